/**
 * A service's process that is killed: `node sandbox-holder.ts SECONDS`. Has three sandboxes, one of this machine's per kind of work that outlives
 * its command, and tells its folder's owner when all are at work.
 */
import { openMachine } from "./local-sandboxes.ts";
import { SPEC } from "./sandbox-spec.ts";
import { ownerName } from "../../../src/cli/sandboxes/owner.ts";

const [seconds = "1000"] = process.argv.slice(2);
const { driver } = openMachine();
for (const command of [`sleep ${seconds} & true`, `setsid nohup sleep ${seconds} > /dev/null 2>&1 & true`]) {
  const id = await driver.create(SPEC);
  await driver.execute(id, command, { timeoutSeconds: 10 });
}
const busy = await driver.create(SPEC);
void driver.execute(busy, `sleep ${seconds}`, { timeoutSeconds: 1_000 });
console.log(ownerName());
setInterval(() => undefined, 1_000);
