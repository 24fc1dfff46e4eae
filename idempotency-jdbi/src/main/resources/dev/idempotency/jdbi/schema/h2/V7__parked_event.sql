-- One row per record that a consumer has given up for now, whole, until its replay succeeds. There is no mark for it.
CREATE TABLE IF NOT EXISTS parked_event (
    record_offset BIGINT NOT NULL,
    recorded_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    parked_at TIMESTAMP(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP(6) NOT NULL,
    topic_id UUID NOT NULL,
    partition_number INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    consumer_id SMALLINT NOT NULL,
    topic VARCHAR(255) NOT NULL,
    event_id VARCHAR(200) NOT NULL,
    reason VARCHAR(2000) NOT NULL,
    record_key VARBINARY,
    record_value BLOB,
    -- Number of headers, then for each the length and bytes of its name, and the length and bytes of its value; lengths
    -- are four bytes, -1 stands for a value that is null.
    record_headers VARBINARY NOT NULL,
    CONSTRAINT parked_event_pkey PRIMARY KEY (consumer_id, topic_id, partition_number, record_offset)
);

-- For people who look for an event.
CREATE INDEX IF NOT EXISTS parked_event_event_id ON parked_event (event_id);
