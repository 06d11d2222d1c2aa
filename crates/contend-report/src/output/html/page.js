"use strict";
// What every page does: it shows one sweep point, and one line of a figure when its name is clicked.

(() => {
  const pick = document.getElementById("point");
  if (!pick) return;
  const show = () => document.querySelectorAll(".point").forEach((p) => p.classList.toggle("shown", p.id === "point-" + pick.value));
  pick.addEventListener("change", show);
  show();
})();

for (const button of document.querySelectorAll("button[data-only]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure"), alone = !button.classList.contains("only");
    for (const other of figure.querySelectorAll("button[data-only]")) {
      other.classList.toggle("only", alone && other === button);
      other.classList.toggle("dim", alone && other !== button);
    }
    for (const mark of figure.querySelectorAll("svg > g")) mark.classList.toggle("dim", alone && !mark.classList.contains(button.dataset.only));
  });
}

