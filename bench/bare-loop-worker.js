/**
 * The least that could be done in workerd: so many requests by so many lanes, every answer parsed, nothing kept. What the
 * engine is measured against.
 */
export default {
  async fetch(request, env) {
    const { url, requests, concurrency } = await request.json();
    const ask = env.NETWORK === undefined ? fetch : env.NETWORK.fetch.bind(env.NETWORK);
    let next = 0;
    let characters = 0;
    const lane = async () => {
      while (next < requests) {
        const n = next++;
        const messages = [
          { role: "system", content: "Reverse the text character by character." },
          { role: "user", content: `Text number ${n} of the bare loop, about as long as a sentence.` },
        ];
        const response = await ask(`${url}/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer EMPTY" },
          body: JSON.stringify({ model: "bare-loop", messages, max_tokens: 512 }),
        });
        if (!response.ok) throw new Error(`status ${response.status}`);
        const completion = await response.json();
        characters += completion.choices[0].message.content.length;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return Response.json({ characters });
  },
};
