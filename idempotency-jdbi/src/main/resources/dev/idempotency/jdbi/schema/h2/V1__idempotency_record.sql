-- One row per operation and key: who claimed it, what was asked, and the first answer.
--
-- The key is binary because a database-wide collation could fold case or spaces; UTF8TOSTRING shows it as text.
CREATE TABLE IF NOT EXISTS idempotency_record (
    idempotency_key VARBINARY(255) NOT NULL,
    scope_digest BINARY(32) NOT NULL,
    caller_digest BINARY(16) NOT NULL,
    operation VARCHAR(255) NOT NULL,
    -- 1 in progress (leased), 2 completed, 3 completed but not replayable, 5 tombstone
    status SMALLINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    fingerprint VARBINARY(64) NOT NULL,
    result_status INTEGER,
    result_reason VARCHAR(200),
    result_metadata VARBINARY,
    result_body BLOB,
    created_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    completed_at TIMESTAMP(6) WITH TIME ZONE,
    lease_until TIMESTAMP(6) WITH TIME ZONE,
    expires_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    CONSTRAINT idempotency_record_pkey PRIMARY KEY (idempotency_key, scope_digest)
);

-- For the sweep of expired rows alone.
CREATE INDEX IF NOT EXISTS idempotency_record_expires_at ON idempotency_record (expires_at);
