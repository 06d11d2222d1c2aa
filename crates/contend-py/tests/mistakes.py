"""Mistakes that a type checker has to find: each line that ends in `# wrong`. Never run."""

import contend

contend.load(42)  # wrong
hotspot = contend.load("hotspot")
hotspot.run(seeds=1.5)  # wrong
hotspot.run(jobs="all")  # wrong
hotspot.run(set=["ap.queue"])  # wrong
hotspot.run(sede="1..3")  # wrong
results = hotspot.run(seeds="1..3", set={"ap.queue.limit": "400p"}, sweep={"flow.1.count": range(3)})
results.summry  # wrong
contend.compare(results, 42)  # wrong
results.plot.metric(1)  # wrong
results.flows["goodput"] + 1  # wrong
len(results.flows.filter(name="up.1").head())
results.report(None)  # wrong
contend.model.padhye.rate(p=0.01, rtt="100ms")  # wrong
contend.model.padhye.rate(p=0.01, rtt="100ms", t0="1s") + 1
contend.reproduce(short="yes")  # wrong
