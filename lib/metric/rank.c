/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many numbers came, by groups of words, for trackers that remember many.
 *
 * RFC 4737 wants to know of a late frame how many of the frames that arrived before it have larger numbers.
 * With a second of 10 Gbit/s in the window these stand in 232,000 words. So the words are counted in blocks
 * of 64 and the blocks in superblocks of 64, and a late frame adds up at most some 64 of each and 2,048
 * superblocks in the largest window.
 *
 * A group is counted when its last word has entered the ring, so frames in order cost nothing more before
 * that; late arrivals are added to it. Until then its place belongs to the group that is a ring older, of
 * which only the last words are still there: that one is counted by its words.
 */
#include "sequence_priv.h"

/* blocks, then superblocks: rings as the words are */
static uint32_t *
blocks_of(const struct fg_sequence *t)
{
	return (uint32_t *)(points_of(t) + t->point_mask + 1);
}

static uint32_t *
supers_of(const struct fg_sequence *t)
{
	return blocks_of(t) + (t->word_mask + 1) / GROUP;
}

/* of the ring; below two there is nothing to gain by them */
static uint32_t
supers_for(uint32_t words)
{
	return words > GROUP * GROUP ? words / (GROUP * GROUP) : 0;
}

size_t
rank_size(uint32_t words)
{
	return words > GROUP ? (words / GROUP + supers_for(words)) * sizeof(uint32_t) : 0;
}

void
rank_fill(struct fg_sequence *t, bool came)
{
	uint32_t words = t->word_mask + 1;

	if (!rank_is_kept(t))
		return;
	for (uint32_t i = 0; i < words / GROUP; i++)
		blocks_of(t)[i] = came ? GROUP * 64 : 0;
	for (uint32_t i = 0; i < supers_for(words); i++)
		supers_of(t)[i] = came ? GROUP * GROUP * 64 : 0;
}

void
rank_close(struct fg_sequence *t, uint64_t at)
{
	uint64_t slot = (at & t->word_mask) / GROUP;
	const uint64_t *words = words_of(t) + slot * GROUP;
	uint32_t n = 0;

	/* as a rule all came, and without an instruction of its own a word takes long to be counted */
	for (unsigned i = 0; i < GROUP; i++)
		n += words[i] == UINT64_MAX ? 64 : (uint32_t)__builtin_popcountll(words[i]);
	blocks_of(t)[slot] = n;
	if (slot % GROUP < GROUP - 1 || supers_for(t->word_mask + 1) == 0)
		return;
	n = 0;
	for (uint64_t i = slot - (GROUP - 1); i <= slot; i++)
		n += blocks_of(t)[i];
	supers_of(t)[slot / GROUP] = n;
}

void
rank_add(struct fg_sequence *t, uint64_t at)
{
	uint64_t slot = (at & t->word_mask) / GROUP, head = t->next >> 6;

	if (!rank_is_kept(t))
		return;
	if (at / GROUP < head / GROUP)
		blocks_of(t)[slot]++;
	if (at / (GROUP * GROUP) < head / (GROUP * GROUP) && supers_for(t->word_mask + 1) > 0)
		supers_of(t)[slot / GROUP]++;
}

unsigned
rank_of_oldest(const struct fg_sequence *t, uint64_t at)
{
	return blocks_of(t)[(at & t->word_mask) / GROUP];
}

uint64_t
rank_above(const struct fg_sequence *t, uint64_t number)
{
	uint64_t at = number >> 6, head = t->next >> 6, mask = ~0ULL << (number & 63) << 1, n;
	bool supers = supers_for(t->word_mask + 1) > 0;

	if (at == head)
		return (uint64_t)__builtin_popcountll(t->head & mask);
	n = (uint64_t)__builtin_popcountll(words_of(t)[at & t->word_mask] & mask);
	for (at++; at < head;) {
		uint64_t slot = at & t->word_mask;

		if (supers && at % (GROUP * GROUP) == 0 && head - at >= GROUP * GROUP) {
			n += supers_of(t)[slot / (GROUP * GROUP)];
			at += GROUP * GROUP;
		} else if (at % GROUP == 0 && head - at >= GROUP) {
			n += blocks_of(t)[slot / GROUP];
			at += GROUP;
		} else {
			n += (uint64_t)__builtin_popcountll(words_of(t)[slot]);
			at++;
		}
	}
	return n + (uint64_t)__builtin_popcountll(t->head);
}
