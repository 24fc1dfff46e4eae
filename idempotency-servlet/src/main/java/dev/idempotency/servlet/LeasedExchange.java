package dev.idempotency.servlet;

import dev.idempotency.LeasedOperation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.RecordedResult;
import dev.idempotency.WorkResult;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request under LEASED, which may end on another thread than it began on: recorded once, then answered once.
 *
 * <p>Whatever comes first of the chain's return, {@code complete()}, the end of a re-dispatch, an error and the first
 * byte of a streamed answer decides what is recorded.
 */
final class LeasedExchange implements HeldResponse.Streaming, AsyncListener {
    private static final Logger log = LoggerFactory.getLogger(LeasedExchange.class);
    private static final String ATTRIBUTE = LeasedExchange.class.getName();

    private final FilterSettings settings;
    private final Answers answers;
    private final LeasedOperation operation;
    private final Buffers buffers;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final HeldResponse holding;
    private final HttpServletResponse shielded;
    private final ReplayableRequest replayable;
    private final IdempotentRequest handle;
    private final AtomicBoolean recorded = new AtomicBoolean();
    private final AtomicBoolean answered = new AtomicBoolean();
    private volatile boolean async;
    private volatile boolean workGoesOn;
    private volatile boolean containerDone;

    LeasedExchange(
            FilterSettings settings,
            Answers answers,
            LeasedOperation operation,
            Buffers buffers,
            HttpServletRequest request,
            HttpServletResponse response) {
        this.settings = settings;
        this.answers = answers;
        this.operation = operation;
        this.buffers = buffers;
        this.request = request;
        this.response = response;
        this.holding = new HeldResponse(response, buffers.responseBody(), settings.headerLimit(), this);
        this.shielded = Opaque.shield(holding, response);
        this.replayable = new ReplayableRequest(request, buffers.requestBody(), this);
        this.handle = new IdempotentRequest(operation.context(), holding);
    }

    /** The exchange that a re-dispatched request belongs to. */
    static @Nullable LeasedExchange of(ServletRequest request) {
        return (LeasedExchange) request.getAttribute(ATTRIBUTE);
    }

    void run(FilterChain chain) throws IOException, ServletException {
        request.setAttribute(ATTRIBUTE, this);
        handle.attachTo(request);
        dispatch(chain, replayable, shielded);
    }

    /** Runs the chain for the request's own dispatch or for one that the application asked for. */
    void dispatch(FilterChain chain, ServletRequest dispatched, ServletResponse answer)
            throws IOException, ServletException {
        async = false;
        try {
            chain.doFilter(dispatched, answer);
            if (!async) {
                end();
            }
        } catch (IOException | ServletException | RuntimeException | Error e) {
            fail(e);
            throw e;
        } finally {
            if (!async) {
                // An error page comes after the record, and has no say in it.
                handle.detachFrom(request);
                operation.answered();
            }
        }
    }

    /** The work failed and what it did is in doubt; the container answers, or a listener of the application. */
    private void fail(@Nullable Throwable failure) {
        if (!recorded.compareAndSet(false, true)) {
            return;
        }
        try {
            operation.fail();
        } catch (RuntimeException e) {
            log.warn("The failure of a request could not be recorded; its key stays busy until the lease ends", e);
            if (failure != null) {
                failure.addSuppressed(e);
            }
        }
        if (!async) {
            holding.drop();
            closeBuffers();
        }
    }

    /** Records the answer, then lets it out. */
    private void end() throws IOException {
        try {
            if (recorded.compareAndSet(false, true)) {
                record();
            } else {
                answer(null);
            }
        } finally {
            closeBuffers();
        }
    }

    /** Lets the answer out, or the one that stands in its place; null says that it was recorded before. */
    private void answer(@Nullable OperationOutcome outcome) throws IOException {
        if (containerDone || !answered.compareAndSet(false, true)) {
            return;
        }
        if (outcome == null || outcome instanceof OperationOutcome.Executed) {
            holding.release();
        } else {
            holding.drop();
            answers.answer(outcome, request, response);
        }
    }

    private void record() throws IOException {
        WorkResult result;
        try {
            if (containerDone) {
                holding.requireWhole();
            } else {
                holding.prepare();
            }
            result = settings.policy().decide(handle, holding);
        } catch (IOException | RuntimeException e) {
            holding.drop();
            operation.fail();
            throw e;
        }
        operation.finish(result, this::answer);
    }

    private void closeBuffers() {
        try {
            buffers.close();
        } catch (IOException e) {
            log.info("A temporary file could not be closed", e);
        }
    }

    @Override
    public void begin(int status) throws IOException {
        if (!recorded.compareAndSet(false, true)) {
            throw new IOException("The request had been recorded before its answer was to be streamed");
        }
        OperationOutcome outcome = operation.finishBeforeAnswer(
                new WorkResult.Succeeded(new RecordedResult.NotReplayable(status, "the response was streamed")));
        if (!(outcome instanceof OperationOutcome.Executed)) {
            throw new IOException("The answer is not streamed, because it could not be recorded: " + outcome);
        }
    }

    /** Takes a newly started asynchronous cycle under its wing. */
    AsyncContext started(AsyncContext container, ServletRequest dispatched, ServletResponse answer, boolean original) {
        async = true;
        container.addListener(this);
        return new HeldAsyncContext(container, this, dispatched, answer, original);
    }

    /** The response as the application sees it. */
    HttpServletResponse visibleResponse() {
        return shielded;
    }

    /** The application says that its answer is whole; on whichever thread. */
    void complete(AsyncContext container) {
        try {
            end();
        } catch (IOException e) {
            log.debug("An answer could not be sent; it is recorded", e);
        } catch (RuntimeException e) {
            log.error("An asynchronous request could not be ended; its client is answered 503", e);
        } finally {
            if (!containerDone) {
                container.complete();
            }
        }
    }

    /**
     * Nothing is recorded: the work may still run, and if it completes in the end, repeats get its answer. Until then
     * they are told that it is in progress, at the longest until the heartbeat's maximum lifetime.
     */
    @Override
    public void onTimeout(AsyncEvent event) {
        workGoesOn = true;
    }

    /**
     * Tells what broke: the connection, which leaves the work as it is, as a time-out does; or the work, where the
     * container ran it.
     */
    @Override
    public void onError(AsyncEvent event) {
        Throwable failure = event.getThrowable();
        if (failure instanceof RuntimeException || failure instanceof ServletException || failure instanceof Error) {
            fail(failure);
        } else {
            workGoesOn = true;
        }
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        // started() has been called with the new cycle.
    }

    @Override
    public void onComplete(AsyncEvent event) {
        containerDone = true;
        if (recorded.get()) {
            operation.answered();
            closeBuffers();
        } else if (workGoesOn) {
            log.info(
                    "An asynchronous request timed out or lost its client; its key stays busy until its work completes");
        } else {
            endWithoutAnswer();
        }
    }

    private void endWithoutAnswer() {
        log.error("An asynchronous request was dispatched past the filter and its client got no answer: map the"
                + " IdempotencyFilter for DispatcherType.ASYNC as well");
        try {
            end();
        } catch (IOException | RuntimeException e) {
            log.warn("The answer of an asynchronous request could not be recorded", e);
        }
    }
}
