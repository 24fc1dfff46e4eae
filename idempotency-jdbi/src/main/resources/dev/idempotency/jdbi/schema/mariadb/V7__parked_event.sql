-- One row per record that a consumer has given up for now, whole, until its replay succeeds. There is no mark for it.
CREATE TABLE IF NOT EXISTS parked_event (
    consumer_id SMALLINT NOT NULL,
    topic_id BINARY(16) NOT NULL,
    partition_number INT NOT NULL,
    record_offset BIGINT NOT NULL,
    recorded_at DATETIME(6) NOT NULL,
    parked_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    attempts INT NOT NULL,
    topic VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    event_id VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    reason VARCHAR(2000) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    record_key LONGBLOB,
    record_value LONGBLOB,
    -- Number of headers, then for each the length and bytes of its name, and the length and bytes of its value; lengths
    -- are four bytes, -1 stands for a value that is null.
    record_headers LONGBLOB NOT NULL,
    PRIMARY KEY (consumer_id, topic_id, partition_number, record_offset),
    -- For people who look for an event.
    KEY parked_event_event_id (event_id)
) ENGINE = InnoDB;
