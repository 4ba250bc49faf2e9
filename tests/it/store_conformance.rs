use crate::common::servers;
use carlosctl::store::*;
#[tokio::test]
async fn smoke() {
    for s in [servers::seaweedfs(), servers::ministack()] {
        let t = std::time::Instant::now();
        let b = s.versioned_bucket();
        let st = s.store(&b).await;
        println!("{} {:?}", s.endpoint, t.elapsed());
        let e = create(&st, "a b/c+d%é.db", &Body::from(b"x".to_vec())).await;
        println!("{e:?}");
        println!("{:?}", st.list("").await);
        println!("{:?}", st.list_versions("").await);
        println!("{:?}", probe(&st).await);
        println!("{:?}", st.list_versions("").await);
        println!("{:?} {:?}", st.clock_ahead_seconds(), st.head("nope").await);
        let m = st.head("a b/c+d%é.db").await.unwrap();
        println!("{:?}", st.copy(&m, "x/y").await);
        println!("{:?}", st.copy(&m, "x/y").await);
    }
    let s = servers::rclone();
    let b = s.bucket();
    let st = s.store(&b).await;
    println!("{:?}", probe(&st).await);
}
