-- One row per consumer and partition: how far it is processed, and the epoch of the owner who may move it. Room is left
-- on each page, because the row is updated in every transaction of its consumer.
CREATE TABLE IF NOT EXISTS partition_offset (
    -- Null until the first transaction of the consumer on this partition.
    next_offset bigint,
    epoch bigint NOT NULL,
    -- The event at which a counted attempt began last, and in which epoch.
    started_offset bigint,
    started_epoch bigint,
    updated_at timestamptz DEFAULT now() NOT NULL,
    topic_id uuid NOT NULL,
    partition_number integer NOT NULL,
    -- In how many epochs in a row such an attempt began without an outcome.
    starts integer DEFAULT 0 NOT NULL,
    -- How often the partition was assigned since it was last advanced.
    unadvanced integer DEFAULT 1 NOT NULL,
    consumer_id smallint NOT NULL,
    topic varchar(255) COLLATE "C" NOT NULL,
    owner varchar(200) NOT NULL,
    CONSTRAINT partition_offset_pkey PRIMARY KEY (consumer_id, topic_id, partition_number)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000
);
