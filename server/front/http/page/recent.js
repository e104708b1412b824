// SPDX-License-Identifier: Apache-2.0
// Recent videos.

// The first frames of a video as its poster, when it is scrolled to; one after the other.
let posters = Promise.resolve();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    const place = entry.target;
    posters = posters.then(async () => {
      const reply = await ask(`/reel/v1/videos/${place.dataset.id}/media`, { headers: { Range: 'bytes=0-262143' } });
      place.src = URL.createObjectURL(new Blob([await reply.arrayBuffer()], { type: 'video/mp4' }));
    }).catch(() => {});
  }
});

async function open(video) {
  clearStages();
  const stage = new Stage(video.spec.prompt || '');
  stages.push(stage);
  stage.node.scrollIntoView({ block: 'nearest' });
  try {
    await stage.follow((await askJson(`/reel/v1/videos/${idOf(video)}`)).video);
  } catch (error) {
    if (!stage.life.signal.aborted) stage.broken(error);
  }
}

let lists = 0;  // asked for: of two on their way the newer counts, whichever comes first

async function loadRecent() {
  const own = ++lists;
  let page;
  try {
    page = await askJson('/reel/v1/videos?pageSize=24');
  } catch (error) {
    return;
  }
  if (own !== lists) return;
  const known = new Map([...byId('recent').children].map((item) => [item.dataset.key, item]));
  byId('recent').replaceChildren(...(page.videos || []).map((video) => {
    const key = `${video.name} ${video.state}`;
    if (known.has(key)) return known.get(key);
    const item = element('li');
    item.dataset.key = key;
    const button = element('button');
    button.type = 'button';
    const state = video.state.replace('VIDEO_STATE_', '').toLowerCase();
    if (video.state === 'VIDEO_STATE_SUCCEEDED') {
      const poster = element('video');
      poster.muted = true;
      poster.tabIndex = -1;
      poster.dataset.id = idOf(video);
      poster.setAttribute('aria-hidden', 'true');
      watcher.observe(poster);
      button.append(poster);
    } else {
      button.append(element('span', state, 'none'));
    }
    button.append(element('span', video.spec.prompt || '', 'text'), element('span', state, 'state'));
    button.addEventListener('click', () => open(video));
    item.append(button);
    return item;
  }));
}
