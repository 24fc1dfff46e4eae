-- One row per record that a consumer has given up for now, whole, until its replay succeeds. There is no mark for it.
CREATE TABLE IF NOT EXISTS parked_event (
    record_offset bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    parked_at timestamptz DEFAULT now() NOT NULL,
    topic_id uuid NOT NULL,
    partition_number integer NOT NULL,
    attempts integer NOT NULL,
    consumer_id smallint NOT NULL,
    topic varchar(255) COLLATE "C" NOT NULL,
    event_id varchar(200) COLLATE "C" NOT NULL,
    reason varchar(2000) NOT NULL,
    record_key bytea,
    record_value bytea,
    -- Number of headers, then for each the length and bytes of its name, and the length and bytes of its value; lengths
    -- are four bytes, -1 stands for a value that is null.
    record_headers bytea NOT NULL,
    CONSTRAINT parked_event_pkey PRIMARY KEY (consumer_id, topic_id, partition_number, record_offset)
);

-- For people who look for an event.
CREATE INDEX IF NOT EXISTS parked_event_event_id ON parked_event (event_id);
