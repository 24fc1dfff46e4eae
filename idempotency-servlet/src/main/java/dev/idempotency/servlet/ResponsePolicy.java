package dev.idempotency.servlet;

import dev.idempotency.RecordedResult;
import dev.idempotency.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Decides by the handler's status, or by its own word, what is kept of a request, and makes the record.
 *
 * @param replayLimit the bytes of the largest body that is stored
 * @param keptHeaders the headers that are stored beside the content type
 */
record ResponsePolicy(int replayLimit, List<String> keptHeaders) {
    /** Refusals that another attempt may escape: credentials, time-outs, ordering and load. */
    private static final Set<Integer> TRANSIENT_REFUSALS = Set.of(401, 403, 408, 425, 429);

    WorkResult decide(IdempotentRequest handle, HeldResponse answer) throws IOException {
        RecordedResult result = recorded(answer);
        return switch (handle.decision()) {
            case COMMIT -> new WorkResult.Succeeded(result);
            case ROLL_BACK_AND_KEEP -> new WorkResult.Refused(result);
            case ROLL_BACK_AND_FORGET -> new WorkResult.Failed(result);
            case BY_STATUS -> byStatus(handle, answer.status(), result);
        };
    }

    private static WorkResult byStatus(IdempotentRequest handle, int status, RecordedResult result) {
        if (status < 400) {
            return new WorkResult.Succeeded(result);
        }
        if (TRANSIENT_REFUSALS.contains(status)) {
            // Such a refusal says that nothing was done, so the key is free under LEASED too.
            handle.context().markNoEffect();
            return new WorkResult.Failed(result);
        }
        return status < 500 ? new WorkResult.Refused(result) : new WorkResult.Failed(result);
    }

    private RecordedResult recorded(HeldResponse answer) throws IOException {
        HeldResponse.SentError error = answer.error();
        if (error != null) {
            return new StoredResponse(error.status(), keptHeaders(answer), true, error.message(), new byte[0])
                    .toResult();
        }
        SpillBuffer body = answer.body();
        if (body.size() > replayLimit) {
            return new RecordedResult.NotReplayable(
                    answer.status(), "the response has more than " + replayLimit + " bytes");
        }
        List<StoredResponse.Header> headers = keptHeaders(answer);
        String type = answer.getContentType();
        if (type != null) {
            headers.add(new StoredResponse.Header("Content-Type", type));
        }
        return new StoredResponse(answer.status(), headers, false, null, body.toBytes()).toResult();
    }

    private List<StoredResponse.Header> keptHeaders(HeldResponse answer) {
        List<StoredResponse.Header> kept = new ArrayList<>();
        for (String name : keptHeaders) {
            for (String value : answer.getHeaders(name)) {
                kept.add(new StoredResponse.Header(name, value));
            }
        }
        return kept;
    }
}
