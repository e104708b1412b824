// SPDX-License-Identifier: Apache-2.0
// A video on the page, from its request to its bill.

// Takes the others along: videos beside each other play in step.
function takeAlong(leader, kind) {
  if (leader.asked.delete(kind) || !leader.node.isConnected) return;
  const { paused, currentTime } = leader.video;
  for (const stage of stages) {
    const { video } = stage;
    if (stage === leader || video.hidden) continue;
    if (Math.abs(video.currentTime - currentTime) > 0.05) {
      stage.asked.add('seeked');
      video.currentTime = currentTime;
    }
    if (video.paused === paused) continue;
    stage.asked.add(paused ? 'pause' : 'play');
    if (paused) video.pause(); else video.play().catch(() => stage.asked.delete('play'));
  }
}

class Stage {
  // `place(node)` puts it on the page.
  constructor(title, heading = title, place = (node) => byId('stages').prepend(node)) {
    this.node = byId('stage').content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.node.querySelector(selector);
    this.title = title;
    this.asked = new Set();  // events that others have caused, by takeAlong
    this.find('h2').textContent = heading;
    this.video = this.find('video');
    this.player = new Player(this.video);
    this.player.onstart = () => this.showVideo();
    this.life = new AbortController();
    this.media = null;
    this.find('.speaker').addEventListener('click', () => this.hear(this.video.muted));
    this.video.addEventListener('volumechange', () => this.showSpeaker());
    this.find('.cancel').addEventListener('click', () => this.cancel());
    this.find('.download').addEventListener('click', () => this.download());
    this.find('.promote').addEventListener('click', () => this.goOn(promotionOf(this.result.name, true)));
    this.find('.delete').addEventListener('click', () => this.remove());
    for (const kind of ['play', 'pause', 'seeked']) this.video.addEventListener(kind, () => takeAlong(this, kind));
    this.find('.go-on').addEventListener('click', () => this.open('extend'));
    this.find('.again').addEventListener('click', () => this.open('retake'));
    this.find('.another').addEventListener('click', () => this.another());
    this.find('.curl').addEventListener('click', (event) => copy(event.target, asCurl(this.sent)));
    this.find('.reel').addEventListener('click', (event) => copy(event.target, asReel(this.sent)));
    place(this.node);
  }
  close() {
    this.life.abort();
    this.node.remove();
  }
  showVideo() {
    this.video.hidden = false;
    this.find('img').hidden = true;
    this.find('.wait').hidden = true;
  }
  // Renders it, or follows what was `made` of the request, and plays it meanwhile; gives the finished video.
  async run(request, made = undefined) {
    this.sent = request;
    return this.follow(made || (await order({ spec: request }, this.life.signal)).video);
  }
  async follow(video) {
    this.id = idOf(video);
    const { source } = video.spec;
    this.sent = this.sent || requestOf(video.spec);
    const { width, height } = video.spec;
    if (width && height) this.find('.screen').style.aspectRatio = `${width} / ${height}`;
    let finished;
    for await (const { name, data } of events(this.id, this.life.signal)) {
      // In a row the seed is what tells them apart.
      if (name === 'accepted' && byId('stages').classList.contains('row')) this.find('h2').textContent = `Seed ${data.accepted.spec.seed}`;
      if (name === 'accepted' && !source?.promote) this.sent = { ...this.sent, seed: data.accepted.spec.seed };
      if (name === 'progress') this.progress(data.progress);
      if (name === 'preview') this.preview(data.preview);
      if (name === 'media') this.take(data.media);
      if (name === 'restarted') this.restart();
      if (name === 'failed') throw this.fail(data.error);
      if (name === 'finished') finished = data.finished;
    }
    if (this.loading) await this.loading;
    if (finished) this.finish(finished);
    return finished;
  }
  progress(now) {
    const percent = Math.floor(100 * (now.fraction || 0));
    const bar = this.find('progress');
    bar.value = percent;
    bar.textContent = `${percent} %`;
    let text = STAGES[now.stage] || '';
    if (now.queuePosition) text += `, ${now.queuePosition} ahead`;
    if (this.find('.now').textContent !== text) this.find('.now').textContent = text;
    const steps = now.stage === 'STAGE_DENOISE' ? `step ${now.step || 0} of ${now.numSteps}, ` : '';
    const left = seconds(now.remaining);
    this.find('.left').textContent = `${steps}${percent} %${left > 0 ? `, ${shown(left)} s left` : ''}`;
  }
  preview(picture) {
    const image = this.find('img');
    image.src = `data:image/jpeg;base64,${picture.image}`;
    image.alt = `Preview after step ${picture.step}`;
    if (!this.video.hidden) return;
    image.hidden = false;
    this.find('.wait').hidden = true;
  }
  // Browsers play by themselves only what is muted, so that sound waits for a click.
  hear(on) {
    if (on) stages.filter((stage) => stage !== this).forEach((stage) => { stage.video.muted = true; });
    this.video.muted = !on;
    this.showSpeaker();
  }
  showSpeaker() {
    const speaker = this.find('.speaker');
    speaker.textContent = this.video.muted ? 'Sound on' : 'Sound off';
    speaker.setAttribute('aria-pressed', String(!this.video.muted));
  }
  take(media) {
    if (this.loading) return;
    this.find('.speaker').hidden = !media.contentType.includes('mp4a');
    this.player.begin(media.contentType);
    this.loading = this.load();
  }
  restart() {
    if (this.media) this.media.abort();
    this.loading = null;
    this.player.restart();
  }
  // The growing file, to its end. A connection that breaks is followed on; what ends the job is told by its events.
  async load() {
    const media = this.media = new AbortController();
    this.life.signal.addEventListener('abort', () => media.abort());
    while (!media.signal.aborted) {
      try {
        const from = this.player.size;
        const reply = await ask(`/reel/v1/videos/${this.id}/media`, {
          signal: media.signal, headers: from ? { Range: `bytes=${from}-${FOLLOW}` } : {},
        });
        const reader = reply.body.getReader();
        for (;;) {
          const { value, done } = await reader.read();
          if (media.signal.aborted) return;
          if (done) return this.player.end();
          this.player.add(value);
        }
      } catch (error) {
        if (media.signal.aborted || (this.player.size === 0 && error.status)) return;
        if (error.status === 416) return this.player.end();
        if (error.status) return;
        await pause(RETRY_MS);
      }
    }
  }
  finish(video) {
    this.find('progress').value = 100;
    this.find('.now').textContent = 'done';
    this.result = video;
    const stats = video.stats || {};
    const parts = [['text', stats.textEncode], ['denoise', stats.denoise],
      ...stats.soundDecode ? [['sound', stats.soundDecode]] : [], ['decode', stats.decode]]
      .map(([name, time]) => `${name} ${shown(seconds(time))}`).join(', ');
    const seed = video.spec.seed;
    const text = [`${shown(seconds(stats.total))} s (${parts})`, `seed ${seed}`];
    if (stats.sound?.loudnessLufs !== undefined) {
      text.push(`${stats.sound.loudnessLufs.toFixed(1)} LUFS, peak ${stats.sound.truePeakDbtp.toFixed(1)} dBTP`);
    }
    for (const notice of video.notices || []) text.push(notice.message);
    this.find('.left').textContent = text.join(' · ');
    this.find('.cancel').hidden = true;
    for (const name of ['download', 'another', 'delete', 'curl', 'reel']) this.find(`.${name}`).hidden = false;
    if ((this.sent.conditions || []).some((one) => !kindIn(one))) this.find('.another').hidden = true;  // their bytes are gone
    const draft = Boolean(video.spec.stopAfterPass);
    this.find('.promote').hidden = !draft || !keepsState(video);
    this.find('.go-on').hidden = this.find('.again').hidden = draft || !keepsState(video);
    this.bill(stats);
    loadRecent();
  }
  fail(status) {
    const error = takenError(status);
    this.broken(error);
    return error;
  }
  broken(error) {
    this.find('.now').textContent = 'ended';
    this.find('.left').textContent = '';
    this.find('.error').textContent = error.message;
    this.find('.cancel').hidden = true;
    this.find('.another').hidden = !this.sent;
    this.find('.another').textContent = 'Try again';
    this.find('.delete').hidden = !this.id;
  }
  bill(stats) {
    const parts = (stats.parts || []).filter((part) => seconds(part.time) > 0);
    if (!parts.length) return;
    const most = Math.max(...parts.map((part) => seconds(part.time)));
    const rows = parts.map((part) => {
      const bar = element('span');
      bar.style.width = `${100 * seconds(part.time) / most}%`;
      return [part.part.replace('RUN_PART_', '').toLowerCase(), number(shown(seconds(part.time))), bar];
    });
    const place = this.find('.bill div');
    place.replaceChildren(table(['part', 's', 'share'], rows));
    const operators = (stats.operators || []).map((one) => ({ ...one, time: seconds(one.estimate) }))
      .sort((a, b) => b.time - a.time).slice(0, 12);
    if (operators.length) {
      place.append(table(['operator', 'variant', 'part', 's'], operators.map((one) => [
        one.op, one.variant || '', one.part.replace('RUN_PART_', '').toLowerCase(), number(shown(one.time))])));
    }
    const facts = [`${shown(stats.deviceSeconds || 0)} device seconds`];
    if (stats.energyJoules !== undefined) facts.push(`${shown(stats.energyJoules)} J`);
    place.append(element('p', facts.join(', ')));
    this.find('.bill').hidden = false;
  }
  async cancel() {
    if (!this.id) return this.close();
    this.find('.cancel').disabled = true;
    try {
      await ask(`/reel/v1/videos/${this.id}:cancel`, { method: 'POST' });
    } catch (error) {
      this.find('.error').textContent = error.message;
    }
  }
  download() {
    const link = element('a');
    link.href = URL.createObjectURL(this.player.file());
    link.download = `reel-${this.id}.mp4`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  async remove() {
    if (!confirm('Delete this video and its file?')) return;
    try {
      await ask(`/reel/v1/videos/${this.id}`, { method: 'DELETE' });
    } catch (error) {
      this.find('.error').textContent = error.message;
      return;
    }
    this.close();
    stages = stages.filter((stage) => stage !== this);
    if (!stages.length) clearStages();
    loadRecent();
  }
  // One form at a time; its own button closes it, too.
  open(kind) {
    const same = this.form?.kind === kind;
    this.leave();
    if (same) return;
    this.form = new Continuation(this, kind);
    this.find('.actions').after(this.form.node);
    this.find(kind === 'extend' ? '.go-on' : '.again').setAttribute('aria-expanded', 'true');
    this.form.node.elements.prompt.focus();
  }
  leave() {
    if (!this.form) return;
    const button = this.find(this.form.kind === 'extend' ? '.go-on' : '.again');
    button.setAttribute('aria-expanded', 'false');
    if (this.form.node.contains(document.activeElement)) button.focus();
    this.form.node.remove();
    this.form = null;
  }
  another() {
    const { seed, ...rest } = this.sent;
    this.goOn(rest);
  }
  // The next one takes this one's place; in a row the others stay.
  goOn(request, made = undefined, title = this.title) {
    make(request, title, stages.length > 1 || made ? this : undefined, made);
  }
}
