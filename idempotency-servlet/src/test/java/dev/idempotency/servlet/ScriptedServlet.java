package dev.idempotency.servlet;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Does with each request what the test has put under the last part of its path. */
class ScriptedServlet extends HttpServlet {
    private final transient Map<String, Handler> handlers = new ConcurrentHashMap<>();

    void on(String name, Handler handler) {
        handlers.put(name, handler);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        Object included = request.getAttribute(RequestDispatcher.INCLUDE_PATH_INFO);
        String path = included == null ? request.getPathInfo() : (String) included;
        Handler handler = handlers.get(path.substring(1));
        if (handler == null) {
            response.sendError(404);
            return;
        }
        try {
            handler.handle(request, response);
        } catch (IOException | ServletException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
    }
}
