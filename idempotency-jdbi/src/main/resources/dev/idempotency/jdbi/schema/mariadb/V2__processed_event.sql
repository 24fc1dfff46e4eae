-- The consumers, each with the short number under which the other tables know it. Rows are never deleted while a
-- consumer runs: its marks would be nobody's.
CREATE TABLE IF NOT EXISTS event_consumer (
    consumer_id SMALLINT NOT NULL AUTO_INCREMENT,
    -- Binary, because a collation could fold case or spaces; CONVERT(name USING utf8mb4) shows it as text.
    name VARBINARY(200) NOT NULL,
    PRIMARY KEY (consumer_id),
    UNIQUE KEY event_consumer_name (name)
) ENGINE = InnoDB;

-- One row per consumer and event it has processed.
--
-- An id that is a UUID stands as it is, any other as the first 122 bits of its SHA-256 in a UUID of version 8. The id
-- comes first in the primary key, so that ids that grow with time (UUIDv7) fill the table at one end. There is no index
-- on the time: the clean-up reads the table in the order of its ids.
CREATE TABLE IF NOT EXISTS processed_event (
    event_id BINARY(16) NOT NULL,
    consumer_id SMALLINT NOT NULL,
    marked_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    PRIMARY KEY (event_id, consumer_id)
) ENGINE = InnoDB;
