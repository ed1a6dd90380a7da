// Runs in a browser, as the script of a page that wants what the local service has. `attack` resolves to what the page came by.

/** Nothing that a page waits for may take longer. */
const within = (promise, ms = 5_000) => Promise.race([promise, new Promise((resolve) => setTimeout(() => resolve(null), ms))]);

globalThis.attack = async (service, id) => {
  const read = [];
  const loaded = [];
  let tried = 0;
  const refused = [];
  const tries = async (name, work) => {
    tried += 1;
    try {
      await within(work());
    } catch (thrown) {
      // By the browser or the service, as it should be.
      refused.push(`${name}: ${thrown}`);
    }
  };
  const paths = [
    "/health",
    "/api/v1/evaluations/",
    `/api/v1/evaluations/${id}`,
    `/api/v1/evaluations/${id}/samples`,
    `/api/v1/evaluations/${id}/files/eval.log`,
    `/dashboard/evaluations/${id}`,
    "/dashboard/",
    "/embedded/v1/models",
    "/cdn-cgi/local/r2/public/edgewise/x",
    "/cdn-cgi/local/scheduled",
    "//",
    `//${location.host}/`,
    "/\\evil.example/",
  ];
  const run = `${service}/api/v1/evaluations/${id}`;
  const creation = JSON.stringify({ environment_ids: ["edgewise/reverse-text"], inference_model: "m", eval_config: { num_examples: 1 } });

  for (const path of paths) {
    await tries(`fetch ${path}`, async () => read.push(`fetch ${path}: ${await (await fetch(service + path)).text()}`));
    await tries(`fetch with credentials ${path}`, async () =>
      read.push(`fetch ${path}: ${await (await fetch(service + path, { credentials: "include" })).text()}`),
    );
    await tries(`no-cors ${path}`, async () => {
      const text = await (await fetch(service + path, { mode: "no-cors" })).text();
      if (text !== "") read.push(`no-cors ${path}: ${text}`);
    });
    for (const [tag, attribute] of [
      ["script", "src"],
      ["img", "src"],
      ["link", "href"],
    ]) {
      await tries(`${tag} ${path}`, () => embedded(tag, attribute, service + path).then((came) => came && loaded.push(`${tag} ${path}`)));
    }
  }
  for (const path of [`/dashboard/evaluations/${id}`, "/api/v1/evaluations/"]) {
    await tries(`iframe ${path}`, async () => {
      const frame = document.createElement("iframe");
      const came = new Promise((resolve) => frame.addEventListener("load", resolve));
      frame.src = service + path;
      document.body.append(frame);
      await within(came);
      if (frame.contentDocument !== null && frame.contentDocument.URL !== "about:blank") read.push(`iframe ${path}: ${frame.contentDocument.body.textContent}`);
    });
  }

  // What writes, in every form that needs no leave, and in those that do.
  await tries("XMLHttpRequest", () => {
    const request = new XMLHttpRequest();
    request.open("POST", `${run}/interrupt`);
    const done = new Promise((resolve) => request.addEventListener("loadend", resolve));
    request.addEventListener("load", () => read.push(`XMLHttpRequest: ${request.responseText}`));
    request.send();
    return done;
  });
  await tries("no-cors interrupt", () => fetch(`${run}/interrupt`, { method: "POST", mode: "no-cors" }));
  await tries("no-cors interrupt with a body", () => fetch(`${run}/interrupt`, { method: "POST", mode: "no-cors", body: "{}" }));
  await tries("interrupt", async () => read.push(`interrupt: ${await (await fetch(`${run}/interrupt`, { method: "POST" })).text()}`));
  await tries("no-cors resume", () => fetch(`${run}/resume`, { method: "POST", mode: "no-cors" }));
  await tries("no-cors creation", () => fetch(`${service}/api/v1/hosted-evaluations`, { method: "POST", mode: "no-cors", body: creation }));
  await tries("creation", () =>
    fetch(`${service}/api/v1/hosted-evaluations`, { method: "POST", headers: { "content-type": "application/json" }, body: creation }),
  );
  await tries("cancel", () => fetch(`${service}/api/v1/hosted-evaluations/${id}/cancel`, { method: "PATCH" }));
  await tries("delete", () => fetch(run, { method: "DELETE" }));
  await tries("upload", () => fetch(`${service}/api/v1/datasets/${"0".repeat(64)}`, { method: "PUT", body: "x" }));
  await tries("another Worker", () => fetch(`${service}/v1/models`, { headers: { "MF-Route-Override": "edgewise-embedded" } }));
  await tries("attended", () => fetch(`${service}/api/v1/evaluations/`, { headers: { "X-Edgewise-Attended": "1" } }));
  await tries("sendBeacon", async () => navigator.sendBeacon(`${run}/interrupt`));
  await tries("sendBeacon with a body", async () => navigator.sendBeacon(`${service}/api/v1/hosted-evaluations`, new Blob([creation], { type: "text/plain" })));
  for (const enctype of ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]) {
    await tries(`form ${enctype} to interrupt`, () => posted(`${run}/interrupt`, enctype, "a", "b"));
    await tries(`form ${enctype} to create`, () => posted(`${service}/api/v1/hosted-evaluations`, enctype, `${creation.slice(0, -1)},"x":"`, '"}'));
  }
  await tries("WebSocket", () => heard(new WebSocket(`${service.replace("http", "ws")}/api/v1/evaluations/${id}/events`), ["open", "message"], loaded));
  await tries("EventSource", () => heard(new EventSource(`${run}/events`), ["open", "message", "log", "progress"], loaded));
  await tries("EventSource with credentials", () => heard(new EventSource(`${run}/events`, { withCredentials: true }), ["open", "message", "log"], loaded));
  return { read, loaded, tried, refused };
};

/** Whether an element of another page's content came to be one. */
function embedded(tag, attribute, url) {
  return new Promise((resolve) => {
    const element = document.createElement(tag);
    if (tag === "link") element.rel = "stylesheet";
    element.addEventListener("load", () => resolve(true));
    element.addEventListener("error", () => resolve(false));
    element[attribute] = url;
    document.body.append(element);
  });
}

/** A form that is sent into a frame of this page. */
function posted(action, enctype, name, value) {
  const frame = document.createElement("iframe");
  frame.name = `frame${Math.random()}`;
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, { action, enctype, method: "post", target: frame.name });
  const field = document.createElement("input");
  Object.assign(field, { name, value });
  form.append(field);
  document.body.append(form);
  const came = new Promise((resolve) => frame.addEventListener("load", resolve));
  form.submit();
  return within(came, 2_000);
}

/** Whether a stream told anything before it failed. */
function heard(stream, events, loaded) {
  return new Promise((resolve) => {
    for (const event of events) stream.addEventListener(event, () => loaded.push(`${stream.constructor.name} ${event}`));
    stream.addEventListener("error", () => {
      stream.close();
      resolve();
    });
    setTimeout(() => {
      stream.close();
      resolve();
    }, 2_000);
  });
}
