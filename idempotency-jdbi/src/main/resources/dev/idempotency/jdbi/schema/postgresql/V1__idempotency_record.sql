-- One row per operation and key: who claimed it, what was asked, and the first answer.
--
-- The key comes first in the primary key, so that keys that grow with time fill the index at one end; the scope (tenant,
-- caller, operation) is in it as a hash of fixed length. COLLATE "C" compares byte by byte. Columns of fixed width come
-- first because the server then pads less.
CREATE TABLE IF NOT EXISTS idempotency_record (
    fencing_token bigint NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    completed_at timestamptz,
    lease_until timestamptz,
    attempt integer NOT NULL,
    result_status integer,
    -- 1 in progress (leased), 2 completed, 3 completed but not replayable, 5 tombstone
    status smallint NOT NULL,
    idempotency_key varchar(255) COLLATE "C" NOT NULL,
    scope_digest bytea NOT NULL,
    caller_digest bytea NOT NULL,
    operation varchar(255) NOT NULL,
    fingerprint bytea NOT NULL,
    result_reason varchar(200),
    result_metadata bytea,
    result_body bytea,
    CONSTRAINT idempotency_record_pkey PRIMARY KEY (idempotency_key, scope_digest)
) WITH (
    -- The default, a fifth of the table, lets millions of deleted rows pile up in a large one before the first vacuum.
    autovacuum_vacuum_scale_factor = 0.02,
    -- Keeps the visibility map young, which the sweep for expired rows reads through its index.
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

-- For the sweep of expired rows alone. Retention is added to the time of the claim, so inserts come to its right end.
CREATE INDEX IF NOT EXISTS idempotency_record_expires_at ON idempotency_record (expires_at);
