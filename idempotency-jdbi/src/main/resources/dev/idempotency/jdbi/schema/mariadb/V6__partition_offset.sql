-- One row per consumer and partition: how far it is processed, and the epoch of the owner who may move it.
CREATE TABLE IF NOT EXISTS partition_offset (
    consumer_id SMALLINT NOT NULL,
    topic_id BINARY(16) NOT NULL,
    partition_number INT NOT NULL,
    -- Null until the first transaction of the consumer on this partition.
    next_offset BIGINT,
    epoch BIGINT NOT NULL,
    -- The event at which a counted attempt began last, and in which epoch.
    started_offset BIGINT,
    started_epoch BIGINT,
    updated_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    -- In how many epochs in a row such an attempt began without an outcome.
    starts INT NOT NULL DEFAULT 0,
    -- How often the partition was assigned since it was last advanced.
    unadvanced INT NOT NULL DEFAULT 1,
    topic VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    owner VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    PRIMARY KEY (consumer_id, topic_id, partition_number)
) ENGINE = InnoDB;
