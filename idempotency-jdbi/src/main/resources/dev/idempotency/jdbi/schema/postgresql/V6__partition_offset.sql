-- One row per consumer and partition: how far it is processed, and the epoch of the owner who may move it. Room is left
-- on each page, because the row is updated in every transaction of its consumer.
CREATE TABLE IF NOT EXISTS partition_offset (
    -- Null until the first transaction of the consumer on this partition.
    next_offset bigint,
    epoch bigint NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    topic_id uuid NOT NULL,
    partition_number integer NOT NULL,
    consumer_id smallint NOT NULL,
    topic varchar(255) COLLATE "C" NOT NULL,
    owner varchar(200) NOT NULL,
    CONSTRAINT partition_offset_pkey PRIMARY KEY (consumer_id, topic_id, partition_number)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000
);
