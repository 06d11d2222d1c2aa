// The rows of the scorecard with the chosen verdicts.
for (const box of document.querySelectorAll("#filters input")) {
  box.addEventListener("change", () => {
    for (const row of document.querySelectorAll("#scorecard [data-verdict]")) {
      if (row.dataset.verdict === box.value) row.hidden = !box.checked;
    }
  });
}
