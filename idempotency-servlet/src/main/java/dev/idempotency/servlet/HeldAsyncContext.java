package dev.idempotency.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;

/** The asynchronous cycle as the application sees it: completing it records the answer before the answer goes out. */
final class HeldAsyncContext implements AsyncContext {
    private final AsyncContext container;
    private final LeasedExchange exchange;
    private final ServletRequest request;
    private final ServletResponse response;
    private final boolean original;

    HeldAsyncContext(
            AsyncContext container,
            LeasedExchange exchange,
            ServletRequest request,
            ServletResponse response,
            boolean original) {
        this.container = container;
        this.exchange = exchange;
        this.request = request;
        this.response = response;
        this.original = original;
    }

    /** Not asked of the container, which forgets them at a time-out, while late work still writes its answer. */
    @Override
    public ServletRequest getRequest() {
        return request;
    }

    @Override
    public ServletResponse getResponse() {
        return response;
    }

    /** The container was given the filter's request and response, which to the application are the original ones. */
    @Override
    public boolean hasOriginalRequestAndResponse() {
        return original;
    }

    @Override
    public void dispatch() {
        container.dispatch();
    }

    @Override
    public void dispatch(String path) {
        container.dispatch(path);
    }

    @Override
    public void dispatch(ServletContext context, String path) {
        container.dispatch(context, path);
    }

    @Override
    public void complete() {
        exchange.complete(container);
    }

    @Override
    public void start(Runnable task) {
        container.start(task);
    }

    @Override
    public void addListener(AsyncListener listener) {
        container.addListener(new Listener(listener));
    }

    @Override
    public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
        container.addListener(new Listener(listener), request, response);
    }

    @Override
    public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
        return container.createListener(type);
    }

    @Override
    public void setTimeout(long timeout) {
        container.setTimeout(timeout);
    }

    @Override
    public long getTimeout() {
        return container.getTimeout();
    }

    /** Gives the application's listener this context, not the container's, which would complete unrecorded. */
    private final class Listener implements AsyncListener {
        private final AsyncListener listener;

        Listener(AsyncListener listener) {
            this.listener = listener;
        }

        private AsyncEvent translated(AsyncEvent event) {
            return new AsyncEvent(
                    HeldAsyncContext.this,
                    event.getSuppliedRequest(),
                    event.getSuppliedResponse(),
                    event.getThrowable());
        }

        @Override
        public void onComplete(AsyncEvent event) throws IOException {
            listener.onComplete(translated(event));
        }

        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            listener.onTimeout(translated(event));
        }

        @Override
        public void onError(AsyncEvent event) throws IOException {
            listener.onError(translated(event));
        }

        /** The event names the new cycle's context: its listeners are registered with that one. */
        @Override
        public void onStartAsync(AsyncEvent event) throws IOException {
            listener.onStartAsync(event);
        }
    }
}
