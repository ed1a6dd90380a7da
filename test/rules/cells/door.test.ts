import { expect, it } from "vitest";
import { CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const NEWER = { columns: "columns", examplePlaces: "rollouts/0/0", scan: "search?text=a" } as const;

it.each(Object.entries(NEWER))(
  "a run that a version of before still serves, and which does not know %s, says that it is to be asked again",
  async (method, path) => {
    const door = openDoor();
    const run = door.run(CONFIG.run_id);
    run.state = viewFor(CONFIG);
    Object.assign(run, { [method]: () => Promise.reject(new TypeError(`The RPC receiver does not implement the method "${method}".`)) });
    const response = await door.call("GET", `/evaluations/${CONFIG.run_id}/${path}`);
    expect([response.status, await response.json()]).toMatchObject([503, { code: "storage_unavailable", hint: "Try again in a minute." }]);
  },
);
