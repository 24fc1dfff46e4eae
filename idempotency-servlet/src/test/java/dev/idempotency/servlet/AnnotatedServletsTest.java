package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Idempotent;
import dev.idempotency.Protection;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class AnnotatedServletsTest {
    private final AnnotatedServlets servlets =
            new AnnotatedServlets((annotation, place) -> RequestPlan.of(annotation, place, Duration.ofHours(24)));

    @Test
    void read_plainServlet_hasNoPlan() {
        assertThat(servlets.read(HttpServlet.class)).isEqualTo(new AnnotatedServlets.Plans(null, java.util.Map.of()));
    }

    @Test
    void read_class_hasItsPlanAndPassesItOn() {
        RequestPlan plan = new RequestPlan("charge", Protection.LEASED, false, Duration.ofDays(2));
        assertThat(servlets.read(OnClass.class).ofClass()).isEqualTo(plan);
        assertThat(servlets.read(OfSubclass.class).ofClass()).isEqualTo(plan);
        assertThat(servlets.read(OnClass.class).ofMethods()).isEmpty();
    }

    @Test
    void read_method_hasItsPlan() {
        assertThat(servlets.read(OnMethod.class).ofMethods())
                .containsOnlyKeys("DELETE")
                .containsEntry("DELETE", new RequestPlan(null, Protection.TRANSACTIONAL, true, Duration.ofHours(24)));
        assertThat(servlets.read(OnMethod.class).ofClass()).isNull();
        assertThat(servlets.read(Inheriting.class).ofMethods()).containsOnlyKeys("DELETE");
    }

    @Test
    void read_overriddenMethodWithoutAnnotation_hasNoPlan() {
        assertThat(servlets.read(Overriding.class).ofMethods()).isEmpty();
    }

    @Test
    void read_safeMethod_isRefused() {
        assertThatThrownBy(() -> servlets.read(OnGet.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("OnGet.doGet");
    }

    @Test
    void read_retentionThatIsNoDuration_isRefused() {
        assertThatThrownBy(() -> servlets.read(BadRetention.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("BadRetention")
                .hasMessageContaining("7d");
    }

    @Idempotent(operation = "charge", protection = Protection.LEASED, keyRequired = false, retention = "P2D")
    private static class OnClass extends HttpServlet {}

    private static final class OfSubclass extends OnClass {}

    private static class OnMethod extends HttpServlet {
        @Override
        @Idempotent
        protected void doDelete(HttpServletRequest request, HttpServletResponse response) {}
    }

    private static final class Inheriting extends OnMethod {}

    private static final class Overriding extends OnMethod {
        @Override
        protected void doDelete(HttpServletRequest request, HttpServletResponse response) {}
    }

    private static final class OnGet extends HttpServlet {
        @Override
        @Idempotent
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {}
    }

    @Idempotent(retention = "7d")
    private static final class BadRetention extends HttpServlet {}
}
