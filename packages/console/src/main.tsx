// Starts the console: the data it keeps, the live feed, the routes.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onTokenChange } from "./api/token.ts";
import { createConsoleRouter } from "./router.tsx";
import "./look/tokens.css";
import "./look/base.css";
import "./look/parts.css";
import "./look/frame.css";

const client = new QueryClient({
  defaultOptions: { queries: { staleTime: 2000, retry: 1, refetchOnWindowFocus: true } },
});
// What another user may see must not stay on the screen.
onTokenChange(() => {
  client.removeQueries({ type: "inactive" });
  void client.resetQueries();
});

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no place for the console");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={createConsoleRouter(client)} />
    </QueryClientProvider>
  </StrictMode>,
);
