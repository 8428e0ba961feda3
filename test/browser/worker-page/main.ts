// Shows the results of the client in a web worker.
const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => {
  const seen = document.getElementById("seen");
  if (seen !== null) seen.textContent = JSON.stringify(data);
};
