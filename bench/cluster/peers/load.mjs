// A process under test: reports that it is ready, then runs the requested load for a while and reports the count.
export function serveLoad(execute) {
  process.on("message", async ({ seconds, width }) => {
    try {
      process.send({ perSecond: await load(execute, seconds, width) });
    } catch (error) {
      process.send({ problem: String(error?.stack ?? error) });
    }
  });
  process.send("ready");
}

async function load(execute, seconds, width) {
  const start = performance.now();
  const until = start + seconds * 1000;
  let done = 0;
  const lane = async () => {
    while (performance.now() < until) {
      await execute();
      done++;
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return done / ((performance.now() - start) / 1000);
}
