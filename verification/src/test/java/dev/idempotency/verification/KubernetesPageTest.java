package dev.idempotency.verification;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.shutdown.GracefulShutdown;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The manifest on the page about Kubernetes is one, and fits to what the page says beside it. */
final class KubernetesPageTest {
    private static final Path PAGE = Path.of("..", "docs", "kubernetes.md");
    private static final Pattern YAML_BLOCK = Pattern.compile("```yaml\\R(.*?)```", Pattern.DOTALL);
    private static final int GRACE_SECONDS = 25;
    private static final int MARGIN_SECONDS = 5;

    @Test
    void options_areAccepted() {
        GracefulShutdown shutdown = GracefulShutdown.builder()
                .grace(Duration.ofSeconds(25))
                .lameDuck(Duration.ofSeconds(5))
                .build();

        assertThat(shutdown.ready()).isTrue();
    }

    @Test
    void manifest_gracePeriodHoldsThatOfTheProgram() throws Exception {
        assertThat((Integer) pod().get("terminationGracePeriodSeconds"))
                .isGreaterThanOrEqualTo(GRACE_SECONDS + MARGIN_SECONDS);
    }

    @Test
    void manifest_processOneIsTheJvmAndProbesAreTwoPaths() throws Exception {
        Map<String, Object> container = container();

        assertThat(container.get("command")).isEqualTo(List.of("java"));
        assertThat(path(container, "readinessProbe")).isEqualTo("/ready");
        assertThat(path(container, "livenessProbe")).isEqualTo("/live");
        assertThat(path(container, "startupProbe")).isEqualTo("/live");
        assertThat(container).as("lame duck and preStop at once").doesNotContainKey("lifecycle");
    }

    @Test
    void manifest_deploymentAndServiceSelectThePods() throws Exception {
        Map<String, Object> labels = map(map(map(spec(deployment()), "template"), "metadata"), "labels");

        assertThat(map(map(spec(deployment()), "selector"), "matchLabels")).isEqualTo(labels);
        assertThat(map(spec(documents().get(1)), "selector")).isEqualTo(labels);
        String port = (String) list(container(), "ports").get(0).get("name");
        assertThat(list(spec(documents().get(1)), "ports").get(0).get("targetPort"))
                .isEqualTo(port);
    }

    @Test
    void manifest_otherVariant_sleepsBeforeTheSignal() throws Exception {
        assertThat(map(map(map(documents().get(2), "lifecycle"), "preStop"), "exec"))
                .isEqualTo(Map.of("command", List.of("sleep", "5")));
    }

    private static Map<String, Object> deployment() throws Exception {
        Map<String, Object> deployment = documents().get(0);
        assertThat(deployment.get("kind")).isEqualTo("Deployment");
        return deployment;
    }

    private static Map<String, Object> pod() throws Exception {
        return spec(map(spec(deployment()), "template"));
    }

    private static Map<String, Object> container() throws Exception {
        return list(pod(), "containers").get(0);
    }

    private static Object path(Map<String, Object> container, String probe) {
        return value(map(map(container, probe), "httpGet"), "path");
    }

    private static Map<String, Object> spec(Map<String, Object> object) {
        return map(object, "spec");
    }

    private static Object value(Map<String, Object> parent, String name) {
        return requireNonNull(parent.get(name), () -> "There is no " + name + " in " + parent);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Map<String, Object> parent, String name) {
        return (Map<String, Object>) value(parent, name);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> list(Map<String, Object> parent, String name) {
        return (List<Map<String, Object>>) value(parent, name);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> documents() throws Exception {
        List<Map<String, Object>> documents = new ArrayList<>();
        Matcher block = YAML_BLOCK.matcher(Files.readString(PAGE));
        while (block.find()) {
            for (Object document : new Yaml().loadAll(block.group(1))) {
                documents.add((Map<String, Object>) document);
            }
        }
        return documents;
    }
}
