// A process that handles the calls of Restate for the stores of a whole run of tests, until its input ends.
import { restateStore } from "@andante/restate";

const [, , ingressUrl = "", adminUrl = "", port = ""] = process.argv;
const endpoint = { port: Number(port), url: `http://127.0.0.1:${port}` };
const store = restateStore({ ingressUrl, adminUrl, endpoint, namespace: "run" });
await store.open();
process.stdout.write("open\n");
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
