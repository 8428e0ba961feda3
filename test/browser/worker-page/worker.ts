// Runs the tour of the client in a web worker.
import { tour } from "../../client/tour.ts";

tour(self.location.origin).then(
  (seen) => self.postMessage(seen),
  (error) => self.postMessage(String(error)),
);
