// What a reader does with a page, and whether the page answers; a list of faults as texts.
(() => {
  const faults = [];
  const expect = (holds, what) => { if (!holds) faults.push(what); };

  const air = document.querySelector("#air canvas");
  if (air) {
    const view = () => document.querySelector("#air .where").textContent;
    // True if the page may scroll: the timeline did not take the event.
    const wheel = (more) => air.dispatchEvent(new WheelEvent("wheel", { deltaY: 200, bubbles: true, cancelable: true, clientX: 200, ...more }));
    expect(wheel({}), "the wheel over the timeline does not scroll the page");
    expect(!wheel({ ctrlKey: true }), "the wheel with Ctrl does not zoom the timeline");
    expect(getComputedStyle(air).touchAction === "pan-y", "a finger on the timeline does not scroll the page");
    expect(/^\d.* frames in /.test(view()), "the timeline says nothing about its view");
  }

  for (const figure of document.querySelectorAll("figure")) {
    const names = [...figure.querySelectorAll("button[data-only]")], dim = () => figure.querySelectorAll("svg > g.dim").length;
    const marks = figure.querySelectorAll("svg > g").length;
    if (names.length < 2) continue;
    const title = figure.querySelector("h3").textContent;
    names[0].click();
    const others = marks - figure.querySelectorAll("svg > g." + names[0].dataset.only).length;
    expect(dim() === others, "a click on a name does not show its line alone: " + title);
    names[0].click();
    expect(dim() === 0, "a second click does not show all lines: " + title);
  }

  for (const figure of document.querySelectorAll("figure")) {
    const save = figure.querySelector("button[data-save]"), marks = [...figure.querySelectorAll(".plot > svg > g[aria-label]")];
    if (!save || !figure.getClientRects().length) continue;
    const title = figure.querySelector("h3").textContent, file = fileOf(figure).text, tip = figure.querySelector(".tip");
    const read = new DOMParser().parseFromString(file, "image/svg+xml");
    expect(!read.querySelector("parsererror") && !file.includes("class=") && !file.includes("var("), "the saved SVG is not complete: " + title);
    if (!marks.length) continue;
    expect(marks.filter((g) => g.getAttribute("tabindex") === "0").length === 1, "the marks are not one stop of the tabulator: " + title);
    marks[0].focus();
    expect(!tip.hidden && tip.textContent === marks[0].getAttribute("aria-label"), "a mark in focus does not show its value: " + title);
    marks[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    expect(marks.length < 2 || document.activeElement === marks[1], "an arrow key does not go to the next mark: " + title);
    document.activeElement.blur();
    expect(tip.hidden, "the value stays when the focus is gone: " + title);
  }

  for (const map of document.querySelectorAll("figure.map")) {
    if (!map.getClientRects().length) continue;
    const nodes = [...map.querySelectorAll(".node")], said = () => map.querySelector(".said").textContent;
    const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const links = () => map.querySelector("path.l-decodes").getAttribute("d") + map.querySelector("path.l-senses").getAttribute("d");
    const before = said(), all = links();
    nodes[0].focus();
    press(nodes[0], "ArrowRight");
    expect(document.activeElement === nodes[1] && nodes[1].getAttribute("aria-pressed") === "true", "an arrow key does not choose the next station of the map");
    expect(said() !== before && links().length <= all.length, "the map says nothing about a chosen station");
    press(nodes[1], "Escape");
    expect(said() === before && links() === all, "Escape does not show the whole map");
    const slider = map.querySelector("input"), places = () => nodes.map((n) => n.getAttribute("transform")).join();
    if (!slider) continue;
    const start = places();
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
    if (map.dataset.moves) expect(places() !== start, "the slider does not move the stations of the map");
    expect(map.querySelector("output").textContent.endsWith(" s"), "the map does not say its time");
  }

  const pick = document.getElementById("point");
  if (pick) {
    pick.value = String(pick.options.length - 1);
    pick.dispatchEvent(new Event("change"));
    const shown = [...document.querySelectorAll(".point")].filter((p) => p.getClientRects().length > 0).map((p) => p.id);
    expect(shown.join() === "point-" + pick.value, "the chosen sweep point is not the one shown: " + shown.join());
  }
  return faults;
})
