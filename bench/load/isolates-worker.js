/** Loads isolates one after the other, and asks each what its environment is: `POST /` with how many there are to be in all. Answers with the milliseconds that each new one took. */
import { RpcTarget } from "cloudflare:workers";

class Host extends RpcTarget {
  constructor(heard) {
    super();
    this.heard = heard;
  }
  deliver(text) {
    this.heard(JSON.parse(text));
  }
}

let loaded = 0;
async function load(env, name) {
  const { MODULES: modules, DATE: compatibilityDate, FLAGS: compatibilityFlags } = env;
  const worker = env.LOADER.get(name, () => ({ compatibilityDate, compatibilityFlags, mainModule: "main.js", modules, env: {}, globalOutbound: null }));
  const answer = Promise.withResolvers();
  const session = await worker.getEntrypoint("Isolate").begin(new Host((batch) => answer.resolve(batch)));
  await session.deliver(JSON.stringify([{ type: "describe", v: 1 }]));
  const [{ type }] = await answer.promise;
  if (type !== "described") throw new Error(`the isolate said ${type}`);
  session[Symbol.dispose]();
}

export default {
  async fetch(request, env) {
    const { all } = await request.json();
    const times = [];
    while (loaded < all) {
      // The clock of a Worker stands still but for I/O, of which there is some at both ends.
      await scheduler.wait(0);
      const begin = Date.now();
      await load(env, `isolate ${loaded++}`);
      await scheduler.wait(0);
      times.push(Date.now() - begin);
    }
    return Response.json({ times });
  },
};
