import { describe, expect, it, vi } from "vitest";
import type { RunControl } from "../../../../durable-objects/run/control.ts";
import { EdgewiseError } from "../../../../src/errors/result.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
/** As the platform reports an object that was restarted while it was asked. */
const restarted = (): Error => Object.assign(new Error("Durable Object reset because its code was updated."), { retryable: true, remote: true });
const overloaded = (): Error => Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });

/** A door whose run fails with what `thrown` gives, one call after the other, until that is null. */
function doorWith(...thrown: (() => Error)[]): Door & { readonly stubs: RunControl[] } {
  const stubs: RunControl[] = [];
  const door = openDoor({}, undefined, (run) => {
    // A stub that met a restart stays broken, as on the platform.
    const failure = thrown.shift();
    const stub = failure === undefined ? run : new Proxy(run, { get: (target, name) => (name in target ? () => Promise.reject(failure()) : undefined) });
    stubs.push(stub);
    return stub;
  });
  door.run(ID).state = viewFor(CONFIG);
  return { ...door, stubs };
}

describe("reading a run that is being restarted", () => {
  it.each(["", "/samples", "/rows", "/files/metadata.json", "/files/eval.log"])("is answered all the same: /evaluations/{id}%s", async (path) => {
    expect((await doorWith(restarted).call("GET", `/evaluations/${ID}${path}`)).status).toBe(200);
  });

  it("is answered where a client follows: its log, its page, its events", async () => {
    for (const path of [`/hosted-evaluations/${ID}/logs`, `//dashboard/evaluations/${ID}`])
      expect((await doorWith(restarted).call("GET", path)).status).toBe(200);
    const door = doorWith(restarted);
    door.run(ID).state = viewFor(CONFIG, { phase: "settled", status: "COMPLETED" });
    expect(await (await door.call("GET", `/evaluations/${ID}/events`)).text()).toContain("event: end");
  });

  it("goes through a second stub, once", async () => {
    const door = doorWith(restarted);
    await door.call("GET", `/evaluations/${ID}`);
    expect(door.stubs).toHaveLength(2);
    const broken = doorWith(restarted, restarted);
    expect((await broken.call("GET", `/evaluations/${ID}`)).status).toBe(503);
    expect(broken.stubs).toHaveLength(2);
  });

  it("is not tried again when the object is overloaded, or refuses for a reason", async () => {
    const busy = doorWith(overloaded);
    expect((await busy.call("GET", `/evaluations/${ID}`)).status).toBe(503);
    expect(busy.stubs).toHaveLength(1);
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const older = doorWith(() => new EdgewiseError("stored_version_unknown", "schema 99"));
    expect((await older.call("GET", `/evaluations/${ID}`)).status).toBe(500);
    expect(older.stubs).toHaveLength(1);
    logged.mockRestore();
  });

  it("changes nothing twice: a cancel that broke off is the caller's to repeat", async () => {
    const door = doorWith(restarted);
    expect((await door.call("PATCH", `/hosted-evaluations/${ID}/cancel`)).status).toBe(503);
    expect(door.stubs).toHaveLength(1);
  });
});
