-- One row per consumer and partition: how far it is processed, and the epoch of the owner who may move it.
CREATE TABLE IF NOT EXISTS partition_offset (
    -- Null until the first transaction of the consumer on this partition.
    next_offset BIGINT,
    epoch BIGINT NOT NULL,
    -- The event at which a counted attempt began last, and in which epoch.
    started_offset BIGINT,
    started_epoch BIGINT,
    updated_at TIMESTAMP(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP(6) NOT NULL,
    topic_id UUID NOT NULL,
    partition_number INTEGER NOT NULL,
    -- In how many epochs in a row such an attempt began without an outcome.
    starts INTEGER DEFAULT 0 NOT NULL,
    -- How often the partition was assigned since it was last advanced.
    unadvanced INTEGER DEFAULT 1 NOT NULL,
    consumer_id SMALLINT NOT NULL,
    topic VARCHAR(255) NOT NULL,
    owner VARCHAR(200) NOT NULL,
    CONSTRAINT partition_offset_pkey PRIMARY KEY (consumer_id, topic_id, partition_number)
);
