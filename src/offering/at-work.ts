/** Where the process that started the local service hears which environments are at work; it is asked by POST, `id` and `environment` in the query, and DELETE. */
export const AT_WORK_PATH = "/environments-at-work";

interface Parent {
  fetch(url: string, init: { readonly method: string }): Promise<unknown>;
}

/**
 * Says that code of this environment is about to run, and answers with what says that it is over. Code that never gives the processor back holds the whole local
 * runtime, this isolate and its timers too: who ends such a runtime knows by this whose it was. Deployed the platform ends it, and nobody is told.
 */
export async function beginWork(parent: Parent | undefined, environment: string): Promise<() => void> {
  if (parent === undefined) return () => undefined;
  const query = new URLSearchParams({ id: crypto.randomUUID(), environment });
  const tell = async (method: "POST" | "DELETE"): Promise<void> => {
    // A sign, and nothing that work waits for: without it a message names nobody.
    await parent.fetch(`http://parent${AT_WORK_PATH}?${query.toString()}`, { method }).catch(() => undefined);
  };
  await tell("POST");
  return () => void tell("DELETE");
}
