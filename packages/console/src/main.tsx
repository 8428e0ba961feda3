// Starts the console: query cache, live feed and routes.
import { AndanteApiError } from "@andante/client";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { followUser } from "./api/follow-user.ts";
import { serverQuery } from "./api/queries.ts";
import { takeToken } from "./api/sign-in.ts";
import { followOtherTabs } from "./api/token.ts";
import { createConsoleRouter } from "./router.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/components.css";
import "./styles/layout.css";

takeToken();

const client: QueryClient = new QueryClient({
  // A token may expire while a page is open: after a refusal the status is read again, which leads to the sign-in.
  queryCache: new QueryCache({
    onError: (error, { queryKey: [name] }) => {
      const isRefused = error instanceof AndanteApiError && error.status === 401;
      if (isRefused && name !== "server") void client.invalidateQueries({ queryKey: serverQuery.queryKey });
    },
  }),
  defaultOptions: { queries: { staleTime: 2000, retry: 1, refetchOnWindowFocus: true } },
});
followUser(client);
followOtherTabs();

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no place for the console");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={createConsoleRouter(client)} />
    </QueryClientProvider>
  </StrictMode>,
);
