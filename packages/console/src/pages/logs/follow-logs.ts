// The live tail of log lines, over the server's socket; it reconnects automatically.
import { useEffect, useState } from "react";
import { address } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";
import type { LogRecord } from "../../api/types.ts";

/** Maximum lines on the page. */
const most = 2000;
const retryAfter = 2000;

interface LogMessage {
  readonly type: string;
  readonly logs?: readonly LogRecord[];
  readonly error?: string;
}

export interface Tail {
  readonly lines: readonly LogRecord[];
  readonly connected: boolean;
  readonly problem: string | undefined;
}

export function useLogTail(query: Readonly<Record<string, string | undefined>>): Tail {
  const [tail, setTail] = useState<Tail>({ lines: [], connected: false, problem: undefined });
  const key = JSON.stringify(query);
  useEffect(() => {
    let socket: WebSocket | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const connect = () => {
      const filter: Record<string, string | undefined> = JSON.parse(key);
      const url = address("/ws/logs", { ...filter, limit: 500, token: currentToken() ?? undefined });
      socket = new WebSocket(url.replace(/^http/, "ws"));
      socket.onmessage = ({ data }) => {
        const message: LogMessage = JSON.parse(String(data));
        setTail((before) => receive(before, message));
      };
      socket.onclose = () => {
        if (over) return;
        setTail((before) => ({ ...before, connected: false }));
        retry = setTimeout(connect, retryAfter);
      };
    };
    connect();
    return () => {
      over = true;
      clearTimeout(retry);
      socket?.close();
    };
  }, [key]);
  return tail;
}

function receive(before: Tail, message: LogMessage): Tail {
  if (message.logs === undefined) return { ...before, connected: true, problem: message.error };
  const lines = message.type === "initial" ? message.logs : [...before.lines, ...message.logs];
  return { lines: lines.slice(-most), connected: true, problem: undefined };
}
