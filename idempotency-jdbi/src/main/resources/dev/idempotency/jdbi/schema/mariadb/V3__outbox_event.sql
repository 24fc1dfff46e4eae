-- One row per event that waits to be published, or was published and is kept, or was given up.
--
-- status: PENDING, PUBLISHING (claimed: locked_by, locked_at, locked_until, claim_token), PUBLISHED (published_at), DEAD
-- (last_error). done_at is set with PUBLISHED and DEAD, so that NULL means there is still something to do.
--
-- seq is drawn before commit, so a greater number may become visible earlier. It is the primary key, because InnoDB keeps
-- the rows in its order: appends come to one end of the table, and the relay reads neighbours.
CREATE TABLE IF NOT EXISTS outbox_event (
    seq BIGINT NOT NULL AUTO_INCREMENT,
    event_id BINARY(16) NOT NULL,
    created_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    next_attempt_at DATETIME(6),
    locked_at DATETIME(6),
    locked_until DATETIME(6),
    published_at DATETIME(6),
    done_at DATETIME(6),
    claim_token BIGINT,
    attempts INT NOT NULL DEFAULT 0,
    crashes INT NOT NULL DEFAULT 0,
    partition_no INT,
    bucket SMALLINT NOT NULL,
    status VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'PENDING',
    topic VARCHAR(249) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    msg_key LONGBLOB,
    ordering_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    event_type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    tenant_id VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    locked_by VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    last_error VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    headers LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    payload LONGBLOB,
    PRIMARY KEY (seq),
    UNIQUE KEY outbox_event_id (event_id),
    -- MariaDB has no partial indexes: what is done is kept apart by the first column.
    KEY outbox_event_live (done_at, seq, bucket)
) ENGINE = InnoDB;
