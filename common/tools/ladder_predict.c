// Predictions of all steps, ahead of the climb: threads take them up in order while the steps before them are run.
#include "ladder.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/occupancy.h"
#include "steps.h"
#include "tester/predict.h"

struct ladder_predictions {
    struct ladder *l;
    pthread_mutex_t lock;  // of next and done
    pthread_cond_t some_done;
    pthread_t *threads;
    size_t n_threads, next;
    bool *done;  // by row
};

// What the card would take. The simulated GPU need not have run as large a product.
static void predict(const struct ladder *l, struct row *row)
{
    const struct card *card = card_meant(l->o.card);
    struct simt_prediction *p = predict_step(row->step, &l->predicted, card, row->predict_error);
    if (!p)
        return;
    row->predicted_ms = simt_predicted_ms(p);
    row->predicted_cycles = simt_predicted_cycles(p);
    simt_prediction_free(p);
}

// With the lock held: predicts the next row; false if none is left.
static bool take_one(struct ladder_predictions *all)
{
    const size_t i = all->next;
    if (i >= n_steps)
        return false;
    all->next++;
    pthread_mutex_unlock(&all->lock);
    predict(all->l, &all->l->rows[i]);
    pthread_mutex_lock(&all->lock);
    all->done[i] = true;
    pthread_cond_broadcast(&all->some_done);
    return true;
}

static void *work(void *of)
{
    struct ladder_predictions *all = of;
    pthread_mutex_lock(&all->lock);
    while (take_one(all)) {
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

struct ladder_predictions *ladder_predict_begin(struct ladder *l, size_t threads)
{
    struct ladder_predictions *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->l = l;
    all->done = calloc(n_steps, sizeof *all->done);
    all->threads = calloc(threads + 1, sizeof *all->threads);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->some_done, NULL);
    if (!all->done || !all->threads) {
        ladder_predict_end(all);
        return NULL;
    }
    while (all->n_threads < threads && all->n_threads < n_steps &&
           !pthread_create(&all->threads[all->n_threads], NULL, work, all))
        all->n_threads++;
    return all;
}

// Lends a hand meanwhile, so that it works without threads, too.
void ladder_predict_wait(struct ladder_predictions *all, size_t i)
{
    pthread_mutex_lock(&all->lock);
    while (!all->done[i])
        if (all->next > i || !take_one(all))
            pthread_cond_wait(&all->some_done, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

void ladder_predict_end(struct ladder_predictions *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->next = n_steps;
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < all->n_threads; i++)
        pthread_join(all->threads[i], NULL);
    pthread_cond_destroy(&all->some_done);
    pthread_mutex_destroy(&all->lock);
    free(all->threads);
    free(all->done);
    free(all);
}
