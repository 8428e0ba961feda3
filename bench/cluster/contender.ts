// A process under test: started, asked for its throughput, ended.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

export interface ContenderOptions {
  readonly script: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly execArgv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Contender {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start({ script, args, cwd, execArgv, env }: ContenderOptions): Promise<Contender> {
    const child = fork(script, [...args], {
      cwd,
      execArgv: [...execArgv],
      env: { ...process.env, ...env },
      // The output of peers while they start is not of interest.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const gone = once(child, "exit").then(([code]) => {
      throw new Error(`${script} ended with ${code}`);
    });
    await Promise.race([once(child, "message"), gone]);
    gone.catch(() => undefined);
    return new Contender(child);
  }

  /** Executions in a second, `width` at once. */
  async perSecond(seconds: number, width: number): Promise<number> {
    this.#child.send({ seconds, width });
    const [message] = await once(this.#child, "message");
    const { perSecond, problem } = Object(message);
    if (typeof perSecond !== "number") throw new Error(String(problem));
    return perSecond;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
