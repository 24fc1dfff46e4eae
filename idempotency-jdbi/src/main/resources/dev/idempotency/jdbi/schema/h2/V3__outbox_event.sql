-- One row per event that waits to be published, or was published and is kept, or was given up.
--
-- status: PENDING, PUBLISHING (claimed: locked_by, locked_at, locked_until, claim_token), PUBLISHED (published_at), DEAD
-- (last_error). done_at is set with PUBLISHED and DEAD, so that NULL means there is still something to do.
CREATE TABLE IF NOT EXISTS outbox_event (
    event_id UUID NOT NULL,
    seq BIGINT GENERATED ALWAYS AS IDENTITY (NO CACHE),
    created_at TIMESTAMP(6) WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP,
    next_attempt_at TIMESTAMP(6) WITH TIME ZONE,
    locked_at TIMESTAMP(6) WITH TIME ZONE,
    locked_until TIMESTAMP(6) WITH TIME ZONE,
    published_at TIMESTAMP(6) WITH TIME ZONE,
    done_at TIMESTAMP(6) WITH TIME ZONE,
    claim_token BIGINT,
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    partition_no INTEGER,
    bucket SMALLINT NOT NULL,
    status VARCHAR(10) NOT NULL DEFAULT 'PENDING',
    topic VARCHAR(249) NOT NULL,
    msg_key VARBINARY,
    ordering_key VARCHAR(255),
    event_type VARCHAR(255),
    tenant_id VARCHAR(64),
    locked_by VARCHAR(100),
    last_error VARCHAR(1000),
    headers CLOB,
    payload BLOB,
    CONSTRAINT outbox_event_pkey PRIMARY KEY (event_id)
);

-- H2 has no partial indexes: what is done is kept apart by its first column.
CREATE INDEX IF NOT EXISTS outbox_event_live ON outbox_event (done_at, seq, bucket);
