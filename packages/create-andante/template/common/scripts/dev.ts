// Runs the server, restarts it whenever one of its files changes, and opens the console when it listens.
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

const server = spawn(process.execPath, ["--watch", "src/server.ts"], { stdio: "inherit" });
server.once("exit", (code) => process.exit(code ?? 0));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal));

const url = `http://127.0.0.1:${process.env.PORT ?? 3141}`;
if (process.stdout.isTTY && !process.argv.includes("--no-open")) {
  while (!(await isReady())) await setTimeout(200);
  open(`${url}/console`);
}

async function isReady(): Promise<boolean> {
  // Any response counts: with `auth` it may be a 401.
  return fetch(`${url}/ready`).then(
    () => true,
    () => false,
  );
}

function open(address: string): void {
  const isWindows = process.platform === "win32";
  const program = isWindows ? "cmd" : process.platform === "darwin" ? "open" : "xdg-open";
  const args = isWindows ? ["/c", "start", address] : [address];
  // Without a browser, the address that the server prints is enough.
  spawn(program, args, { stdio: "ignore" }).on("error", () => undefined);
}
