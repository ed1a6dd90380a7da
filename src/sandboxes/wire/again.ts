import type { Sleep } from "../../clients/client.ts";
import { withSandboxRetries } from "../../environments/sandbox/sandbox-retry.ts";
import { ProviderRefusal } from "./provider-http.ts";

/** Does what may be done twice, again where the provider was busy or not reached. What it refuses for good it is not asked again. */
export async function again<T>(work: () => Promise<T>, sleep: Sleep): Promise<T> {
  const done = await withSandboxRetries(
    async () => {
      try {
        return { value: await work() };
      } catch (thrown) {
        if (thrown instanceof ProviderRefusal && !thrown.isPassing) return { thrown };
        throw thrown;
      }
    },
    sleep,
    null,
  );
  if ("thrown" in done) throw done.thrown;
  return done.value;
}
