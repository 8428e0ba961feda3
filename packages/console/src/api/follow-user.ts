// Removes the data of the previous user after a sign-in of another one, with a token or with a cookie.
import { AndanteApiError } from "@andante/client";
import type { QueryClient } from "@tanstack/react-query";
import { andante } from "./andante.ts";
import { serverQuery } from "./queries.ts";
import { currentToken, onTokenChange } from "./token.ts";

export function followUser(client: QueryClient): void {
  const { queryKey } = serverQuery;
  /** The pages of the same user stay as they are, and read their data again. */
  const renew = (isSameUser: boolean) => {
    if (isSameUser) return void client.invalidateQueries();
    client.removeQueries({ type: "inactive" });
    void client.resetQueries();
  };

  // A cookie changes no token: only the server's status shows its user.
  let latest = client.getQueryState(queryKey);
  client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.query.queryKey[0] !== queryKey[0]) return;
    const before = latest;
    latest = client.getQueryState(queryKey);
    const isRead = event.action.type === "success" && !event.action.manual;
    if (!isRead || before?.data === undefined) return;
    const isSameUser = latest?.data?.user?.id === before.data.user?.id;
    const wasRefused = before.error instanceof AndanteApiError && before.error.status === 401;
    if (!isSameUser || wasRefused) renew(isSameUser);
  });

  onTokenChange(async () => {
    const before = client.getQueryData(queryKey)?.user?.id;
    const token = currentToken();
    const server = before !== undefined && token !== null ? await andante.server().catch(() => null) : null;
    if (token !== currentToken()) return;
    const isSameUser = server?.user?.id !== undefined && server.user.id === before;
    if (isSameUser) client.setQueryData(queryKey, server);
    renew(isSameUser);
  });
}
