// The live tail of log lines, over the server's socket; it reconnects automatically.
import type { LogRecord } from "@andante/client";
import { useEffect, useState } from "react";
import { address } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";
import { isObject } from "../../form/as-schema.ts";

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
  const lines = address("/ws/logs", { ...query, limit: 500 });
  useEffect(() => {
    let socket: WebSocket | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const connect = () => {
      const url = new URL(lines.replace(/^http/, "ws"));
      const token = currentToken();
      if (token !== null) url.searchParams.set("token", token);
      socket = new WebSocket(url);
      socket.onmessage = ({ data }) => {
        const message: unknown = JSON.parse(String(data));
        if (isLogMessage(message)) setTail((before) => receive(before, message));
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
  }, [lines]);
  return tail;
}

function isLogMessage(value: unknown): value is LogMessage {
  return isObject(value) && typeof value.type === "string" && Array.isArray(value.logs ?? []);
}

function receive(before: Tail, message: LogMessage): Tail {
  if (message.logs === undefined) return { ...before, connected: true, problem: message.error };
  const lines = message.type === "initial" ? message.logs : [...before.lines, ...message.logs];
  return { lines: lines.slice(-most), connected: true, problem: undefined };
}
