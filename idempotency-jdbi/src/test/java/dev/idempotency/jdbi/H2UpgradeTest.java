package dev.idempotency.jdbi;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

class H2UpgradeTest extends UpgradeContract {
    @Override
    DataSource database() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return dataSource;
    }

    @Override
    String name(String name) {
        return "X'" + HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8)) + "'";
    }

    @Override
    String uuid(String uuid) {
        return "'" + uuid + "'";
    }

    @Override
    String inAnHour() {
        return "DATEADD(HOUR, 1, CURRENT_TIMESTAMP(6))";
    }
}
