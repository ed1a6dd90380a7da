import { afterEach, beforeEach } from "vitest";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { Workplace } from "./cli-process.ts";

export interface FreshPlace {
  readonly place: Workplace;
  readonly model: ModelServer;
}

/** Gives every test of a file a folder and a model server of its own, which go with it. `script`: of the server. */
export function freshPlaces(take: (fresh: FreshPlace) => void, script?: Parameters<typeof startModelServer>[0]): void {
  let fresh: FreshPlace;
  beforeEach(async () => {
    fresh = { place: new Workplace(), model: await startModelServer(script) };
    take(fresh);
  });
  afterEach(async () => {
    fresh.place.remove();
    await fresh.model.close();
  });
}
