// A store without SQL passes every case: the decisions hold all the rules.
import { describeStore } from "../../src/store-cases/index.ts";
import { plainStore } from "./plain-store.ts";

describeStore("a store of maps", plainStore);
