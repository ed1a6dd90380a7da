import { expect, it } from "vitest";
import { ProcessSandbox } from "../../support/environments/process-sandbox.ts";
import { sandboxSpec } from "../../../src/environments/sandbox/sandbox-spec.ts";

it("a job that is stopped ends with all that it has started, by whichever shell", async () => {
  const sandbox = new ProcessSandbox();
  const id = await sandbox.create(sandboxSpec({}));
  const options = { timeoutSeconds: 10 };
  try {
    const job = await sandbox.start(id, "sleep 60 & echo $! > child; wait");
    await sandbox.execute(id, "while [ ! -s child ]; do sleep 0.05; done", options);
    expect((await sandbox.execute(id, 'kill -0 "$(cat child)"', options)).exit_code).toBe(0);
    await sandbox.stop(id, job);
    // Ended ones that nobody has asked after are still there for a moment.
    const gone =
      'i=0; while kill -0 "$(cat child)" 2>/dev/null && ! grep -qs "^State:.Z" "/proc/$(cat child)/status" && [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done; [ $i -lt 100 ]';
    expect((await sandbox.execute(id, gone, options)).exit_code).toBe(0);
  } finally {
    await sandbox.delete([id]);
  }
});
