// A WebSocket client that sends any bytes, right or wrong; it reads nothing unless asked.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface FrameOptions {
  /** 1 text, 2 binary, 0 continuation, 8 close, 9 ping, 10 pong; the others are reserved. Default: 1. */
  readonly opcode?: number;
  /** The last frame of its message. Default: true. */
  readonly final?: boolean;
  /** The three reserved bits. Default: 0. */
  readonly reserved?: number;
  /** A client must mask. Default: true. */
  readonly masked?: boolean;
  /** The length that the frame claims. Default: the payload's. */
  readonly length?: number;
}

/** One frame of RFC 6455. The mask is zero, so that the payload is in it unchanged. */
export function frame(payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, final = true, reserved = 0, masked = true } = options;
  const data = Buffer.from(payload);
  const length = options.length ?? data.length;
  const first = (final ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = masked ? 0x80 : 0;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8(first, 0);
  if (length < 126) head.writeUInt8(mask | length, 1);
  else if (length < 65_536) {
    head.writeUInt8(mask | 126, 1);
    head.writeUInt16BE(length, 2);
  } else {
    head.writeUInt8(mask | 127, 1);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), data]);
}

/** Connects and upgrades; the caller does the rest. */
export async function openRaw(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Socket> {
  const { port, hostname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may cut it off at any time, which these tests check.
  socket.on("error", () => socket.destroy());
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("") +
      "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  await once(socket, "data");
  return socket;
}

/** Writes all of it, however long the other side takes. */
export async function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (!socket.writable) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.write(bytes, () => resolve());
  });
}
