-- The consumers, each with the short number under which the other tables know it.
CREATE TABLE IF NOT EXISTS event_consumer (
    consumer_id SMALLINT GENERATED ALWAYS AS IDENTITY,
    -- Binary, because a database-wide collation could fold case or spaces; UTF8TOSTRING shows it as text.
    name VARBINARY(200) NOT NULL,
    CONSTRAINT event_consumer_pkey PRIMARY KEY (consumer_id),
    CONSTRAINT event_consumer_name UNIQUE (name)
);

-- One row per consumer and event it has processed.
--
-- An id that is a UUID stands as it is, any other as the first 122 bits of its SHA-256 in a UUID of version 8.
CREATE TABLE IF NOT EXISTS processed_event (
    marked_at TIMESTAMP(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP(6) NOT NULL,
    event_id UUID NOT NULL,
    consumer_id SMALLINT NOT NULL,
    CONSTRAINT processed_event_pkey PRIMARY KEY (event_id, consumer_id)
);
