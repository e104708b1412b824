// SPDX-License-Identifier: Apache-2.0
// What the buttons do: one video, a row of them, a pair with two kernel profiles.

// Asked again with the same key, it makes nothing new.
function order(wanted, signal) {
  const key = crypto.randomUUID ? crypto.randomUUID() : `page-${Math.random()}`;
  return askJson('/reel/v1/videos', { method: 'POST', json: wanted, signal, headers: { 'Idempotency-Key': key } });
}

let stages = [];
function clearStages() {
  for (const stage of stages) stage.close();
  stages = [];
  byId('stages').classList.remove('row');
  byId('row-title').hidden = true;
  byId('pair-table').replaceChildren();
}

// One call for several: a row of videos that play in step.
async function makeRow(request, videos) {
  clearStages();
  clearErrors();
  byId('make').disabled = true;
  try {
    const made = (await order({ spec: request, count: videos })).videos;
    byId('stages').classList.add('row');
    byId('row-title').textContent = request.prompt;
    byId('row-title').hidden = false;
    await Promise.all(made.map(async (video) => {
      const stage = new Stage(request.prompt, `Seed ${video.spec.seed}`, (node) => byId('stages').append(node));
      stages.push(stage);
      stage.sent = request;
      try {
        await stage.follow(video);
      } catch (error) {
        if (!stage.life.signal.aborted) stage.broken(error);
      }
    }));
  } catch (error) {
    showError(error, true);
  } finally {
    byId('make').disabled = false;
    loadRecent();
  }
}

// `instead`: the stage whose place it takes, beside others that stay. `made`: the video, where the request was sent already.
async function make(request, title = request.prompt, instead = undefined, made = undefined) {
  if (!instead) clearStages();
  clearErrors();
  const stage = instead ? new Stage(title, stages.length > 1 ? instead.find('h2').textContent : title, (node) => instead.node.replaceWith(node))
    : new Stage(title);
  if (instead) {
    instead.close();
    stages = stages.map((one) => one === instead ? stage : one);
  } else {
    stages.push(stage);
  }
  byId('make').disabled = true;
  try {
    await stage.run(request, made);
  } catch (error) {
    if (stage.life.signal.aborted) return;
    if (stage.id) {
      stage.broken(error);
      loadRecent();
    } else {
      stage.close();
      showError(error, true);
    }
  } finally {
    byId('make').disabled = false;
  }
}

function pairTable(results) {
  const ops = new Map();
  results.forEach((video, side) => {
    for (const stat of (video.stats || {}).kernelStats || []) {
      const row = ops.get(stat.op) || [[], []];
      row[side].push(stat);
      ops.set(stat.op, row);
    }
  });
  const each = (stats) => {
    const calls = stats.reduce((sum, one) => sum + Number(one.calls), 0);
    return calls ? 1e6 * stats.reduce((sum, one) => sum + seconds(one.total), 0) / calls : 0;
  };
  const rows = [...ops].map(([op, [a, b]]) => [
    op, a.map((one) => one.variant).join(', '), number(shown(each(a))), b.map((one) => one.variant).join(', '),
    number(shown(each(b))), number(each(b) ? (each(a) / each(b)).toFixed(2) : '')]);
  byId('pair-table').replaceChildren(rows.length
    ? table(['operator', 'A', 'us a call', 'B', 'us a call', 'A / B'], rows)
    : element('p', 'No step of these was timed: the server times every few steps only.'));
}

async function comparePair() {
  if (!await filesReady()) return;
  clearStages();
  clearErrors();
  const request = spec();
  request.seed = request.seed || String(Math.floor(Math.random() * 2 ** 32));
  const results = [];
  byId('pair').disabled = true;
  try {
    for (const side of ['b', 'a']) {
      const profile = byId(`kernels-${side}`).value;
      const stage = new Stage(`${side.toUpperCase()}: ${profile}`);
      stages.push(stage);
      results.unshift(await stage.run({ ...request, kernels: { profile } }));
    }
    pairTable(results);
  } catch (error) {
    const last = stages[stages.length - 1];
    if (last && !last.life.signal.aborted && last.id) last.broken(error);
    else if (last && !last.life.signal.aborted) { last.close(); showError(error, true); }
  } finally {
    byId('pair').disabled = false;
  }
}
