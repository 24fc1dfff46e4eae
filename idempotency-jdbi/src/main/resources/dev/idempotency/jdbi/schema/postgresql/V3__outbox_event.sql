-- One row per event that waits to be published, or was published and is kept, or was given up.
--
-- status: PENDING, PUBLISHING (claimed: locked_by, locked_at, locked_until, claim_token), PUBLISHED (published_at), DEAD
-- (last_error). done_at is set with PUBLISHED and DEAD, so that NULL means there is still something to do.
--
-- seq is drawn before commit, so a greater number may become visible earlier. It is in no index but the live one:
-- with stale statistics the planner would walk any other for its order, over all the rows that are done. No column that
-- a claim changes, status among them, is in any index nor in its predicate, so that a claim is a heap-only update; the
-- free space in each page is for that. Columns of fixed width come first because the server then pads less.
CREATE TABLE IF NOT EXISTS outbox_event (
    event_id uuid NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY (CACHE 1),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    next_attempt_at timestamptz,
    locked_at timestamptz,
    locked_until timestamptz,
    published_at timestamptz,
    done_at timestamptz,
    claim_token bigint,
    attempts integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    partition_no integer,
    bucket smallint NOT NULL,
    status varchar(10) NOT NULL DEFAULT 'PENDING',
    topic varchar(249) NOT NULL,
    msg_key bytea,
    ordering_key varchar(255),
    event_type varchar(255),
    tenant_id varchar(64),
    locked_by varchar(100),
    last_error varchar(1000),
    headers text,
    payload bytea,
    CONSTRAINT outbox_event_pkey PRIMARY KEY (event_id)
) WITH (
    fillfactor = 70,
    -- Rows come and go by the million: vacuum after a number of them, not after a share of the table, and at full speed.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_threshold = 10000
);

-- What there is to do, in its order; the bucket is looked at without visiting the row.
CREATE INDEX IF NOT EXISTS outbox_event_live ON outbox_event (seq, bucket) WHERE done_at IS NULL;

-- For the clean-up job, and for operators that look for what was given up.
CREATE INDEX IF NOT EXISTS outbox_event_published ON outbox_event (published_at) WHERE published_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS outbox_event_dead ON outbox_event (done_at)
    WHERE done_at IS NOT NULL AND published_at IS NULL;
