-- The consumers, each with the short number under which the other tables know it. Rows are never deleted while a
-- consumer runs: its marks would be nobody's.
CREATE TABLE IF NOT EXISTS event_consumer (
    consumer_id smallint GENERATED ALWAYS AS IDENTITY,
    name varchar(200) COLLATE "C" NOT NULL,
    CONSTRAINT event_consumer_pkey PRIMARY KEY (consumer_id),
    CONSTRAINT event_consumer_name UNIQUE (name)
);

-- One row per consumer and event it has processed.
--
-- An id that is a UUID stands as it is, any other as the first 122 bits of its SHA-256 in a UUID of version 8. The id
-- comes first in the primary key, so that ids that grow with time (UUIDv7) fill the index at one end. There is no index
-- on the time: the clean-up reads the table in the order of its pages.
CREATE TABLE IF NOT EXISTS processed_event (
    marked_at timestamptz DEFAULT now() NOT NULL,
    event_id uuid NOT NULL,
    consumer_id smallint NOT NULL,
    CONSTRAINT processed_event_pkey PRIMARY KEY (event_id, consumer_id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);
