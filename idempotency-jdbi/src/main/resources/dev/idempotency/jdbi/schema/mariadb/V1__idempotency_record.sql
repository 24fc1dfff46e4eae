-- One row per operation and key: who claimed it, what was asked, and the first answer.
--
-- The key is binary, because a collation could fold case, accents or trailing spaces; ids are compared byte by byte. Times
-- are UTC, whatever the time zone of server and session. InnoDB keeps the rows in the order of the primary key: keys that
-- grow with time fill the table at one end.
CREATE TABLE IF NOT EXISTS idempotency_record (
    idempotency_key VARBINARY(255) NOT NULL,
    scope_digest VARBINARY(32) NOT NULL,
    caller_digest VARBINARY(32) NOT NULL,
    operation VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    -- 1 in progress, 2 completed, 3 completed but not replayable, 5 tombstone
    status TINYINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    -- What a claim is known again by. Null once it has been released.
    claim_id BINARY(16),
    attempt INT NOT NULL,
    fingerprint VARBINARY(64) NOT NULL,
    result_status INT,
    result_reason VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    result_metadata LONGBLOB,
    result_body LONGBLOB,
    created_at DATETIME(6) NOT NULL,
    completed_at DATETIME(6),
    lease_until DATETIME(6),
    expires_at DATETIME(6) NOT NULL,
    PRIMARY KEY (idempotency_key, scope_digest),
    -- For the sweep of expired rows alone. Retention is added to the time of the claim, so inserts come to its right end.
    KEY idempotency_record_expires_at (expires_at)
) ENGINE = InnoDB;
