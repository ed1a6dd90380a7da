import { printsTo } from "../../logging/worker-console.ts";
import type { OpenSession } from "./entry.ts";

export const openSession: OpenSession = (definition, channel) => {
  void printsTo;
  channel.onBatch = (batch) => {
    void definition().then(
      async (made) => channel.send([{ type: "echo", id: made.id, batch, probe: await (made as any).probe?.() }]),
      (thrown: unknown) => channel.send([{ type: "failed", message: String(thrown) }]),
    );
  };
};
